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

FOLDER_TEMPLATE = """\
You are working on one task, perhaps not as the first: earlier runs may have left work behind, and messages on the bus.

TASK FOLDER: {task_folder} (also in $TASK_FOLDER)

TASK (from TASK.md):

{task}

RULES:
- When the whole task is complete and you have verified it, create the file DONE in the task folder, with a line on what was done:
  echo "..." > "$TASK_FOLDER/DONE"
- Only that file ends the task. If there is none when you exit, you are started again, whatever your exit code is.
- Do NOT create DONE before everything is complete, and do NOT change TASK.md.
- Read what others left: ralph bus read. Leave what your next run must know: ralph bus post --type FACT "..."
- If you cannot go on without a person or an event outside, say what you wait for and exit: ralph bus post --type wait_without_restart "..."
"""
