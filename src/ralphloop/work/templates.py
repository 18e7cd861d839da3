"""The prompt of checklist work where the user gives none."""

from __future__ import annotations

CHECKLIST_TEMPLATE = """\
You are completing tasks from a PRD file.

TASK FILE: {task_file}

INSTRUCTIONS:
1. Read the task file carefully
2. Find any task marked with '- [ ]' (unchecked checkbox)
3. If you find unchecked tasks:
   - Pick ONE task to complete
   - Implement it fully with tests if applicable
   - Mark it '- [x]' in the task file
   - Commit changes with descriptive message
   - Exit normally (do NOT output the completion promise)
4. If ALL tasks are marked '- [x]' (zero unchecked remain):
   - Verify by searching for '- [ ]' pattern
   - If truly zero remain, output ONLY: <promise>{completion_marker}</promise>

CRITICAL:
- Do NOT mention <promise>{completion_marker}</promise> unless outputting it as completion signal
- Do NOT output the promise if ANY '- [ ]' remain
- Do NOT delete or reword tasks in the task file: an open task that vanishes is put back
- Complete ONE task per session, then exit

Current iteration: {iteration}/{max_iterations}
"""
