"""The words of the claim rule: what a sentence signals, per language, as literal tables.

One entry is a word or a phrase; a trailing `*` stands for any ending. Texts are matched casefolded, whole words only, except in scripts that put
no spaces between words. The tables are merged: nobody guesses the language of a sentence, and a rare collision costs an iteration, no more.
"""

# ruff: noqa: RUF001  (letters and marks of many scripts are the subject here)

from __future__ import annotations

import re
from enum import StrEnum


class Signal(StrEnum):
    """What a phrase says about a claim near it."""

    NEGATION = "negation"
    ZERO = "zero"
    LATER = "later"
    CONDITION = "condition"
    MENTION = "mention"
    SOURCE = "source"
    EXAMPLE = "example"
    PART = "part"
    PLAN = "plan"
    TAKEN_BACK = "taken back"
    TURN = "turn"
    OPEN = "open"
    STILL = "still"
    TROUBLE = "trouble"
    SETTLED = "settled"
    DONE = "done"
    WHOLE = "whole"
    OPTIONAL = "optional"
    LABEL = "label"
    THANKS = "thanks"
    KNOWN = "known"


_TABLES: dict[Signal, dict[str, str]] = {
    Signal.NEGATION: {
        "en": "not, cannot, can't, cant, won't, wont, don't, dont, doesn't, didn't, isn't, aren't, wasn't, weren't, couldn't, wouldn't, shouldn't, haven't, hasn't, hadn't, mustn't, never, nor, neither, unable, refuse*, refrain*, withhold*, hold off, holding back, far from, false, wrong, premature*, instead of, avoid*, forbid*, forbidden, nowhere near",
        "de": "nicht, nichts, kein, keine, keinen, keiner, keinem, nie, niemals, weder, weigere, unmöglich, verfrüht, statt, verboten, falsch",
        "nl": "niet, geen, nooit, noch, onmogelijk, voorbarig, verboden, kan nog, in plaats van",
        "fr": "ne, pas, jamais, aucun, aucune, ni, impossible, prématuré*, m'abstiens, refuse, interdit*",
        "es": "no, nunca, jamás, tampoco, ni, imposible, prematuro, prohibid*, me abstengo",
        "pt": "não, nao, nunca, jamais, nem, impossível, prematuro, proibid*",
        "it": "non, mai, né, nemmeno, neppure, impossibile, prematuro, vietat*, senza poter",
        "pl": "nie, nigdy, ani, niemożliw*, przedwczesn*",
        "ru": "не, нет, нельзя, никогда, ни, невозможно, рано, преждевремен*, воздерж*",
        "uk": "не, ні, немає, нема, неможливо, ніколи, зарано, передчасн*, утрима*",
        "tr": "değil*, yok, asla, hiçbir, olmaz, olmadan, *mıyorum, *miyorum, *muyorum, *müyorum, *amam, *emem, *mayacağım, *meyeceğim, *mam, *mem, *madı, *medi, henüz",
        "zh": "不, 没, 未, 无法, 無法, 别, 勿, 沒, 暂缓",
        "ja": "ない, ません, できな, まだ, 不可",
        "ko": "않, 못, 아니, 안 , 없, 아직, 말아, 불가",
        "sv": "ei, eivät, vielä, δεν, δε, όχι, ακόμη, ακόμα, لا, لم, ليس, لن, غير, بعد, לא, אין, עדיין, नहीं, मत, अभी, không, chưa, chẳng, belum, tidak, bukan, jangan, ไม่, ยัง, nem, nincs, încă, nici, icke, ännu, endnu, ennå, nije, ne, još, نه, نیست, هنوز, inte, aldrig, ingen, inget, inga, icke, ikke, ingen, intet, aldri",
        "cs": "ne, není, nejsou, nemohu, nemůžu, nelze, nikdy, žádn*, nem, nincs",
    },
    Signal.ZERO: {
        "en": "never found, did not find, didn't find, cannot be reproduced, can't be reproduced, could not find any, couldn't find any, do not find any, finds nothing, never failing, never fails, never again, no, 0, zero, none, nothing, without, free of, any longer, not a single, nil",
        "de": "kein, keine, keinen, keiner, keinem, keinerlei, nichts, null, ohne, nirgends, fehlerfrei",
        "nl": "geen, niets, nul, zonder, foutloos",
        "fr": "aucun, aucune, zéro, sans, rien, plus aucun, plus aucune, plus de",
        "es": "ningún, ninguna, ninguno, cero, sin, nada, no hay, no queda, no quedan, ya no",
        "pt": "nenhum, nenhuma, zero, sem, nada, não há, não sobrou, não resta*, não ficou, já não",
        "it": "nessun, nessuna, nessuno, zero, senza, niente, nulla, non ci sono, non resta*, non rimane, non più, più alcun*",
        "pl": "żaden, żadne, żadnych, żadnego, zero, bez, nic, brak błędów, nie ma, nie pozostał*, nie został*",
        "ru": "ноль, без, ничего, ни один, ни одного, ни одной, никаких, не осталось, нет ошибок, больше не, нуля",
        "uk": "нуль, без, нічого, жоден, жодного, жодної, жодних, не залишилося, не лишилося, більше не, помилок немає",
        "tr": "sıfır, hiçbir, hiç, hatasız, kalmadı, sorunsuz, yok",
        "zh": "零, 没有, 無, 无, 沒有, 均无, 0 个, 0个, 0 失败",
        "ja": "ゼロ, なし, 0 件, 0件, ありません, 残っていません",
        "ko": "이 없, 가 없, 은 없, 는 없, 도 없, 없이, 0개, 0건, 0 개, 제로",
        "sv": "noll, inga, inget, utan, ingen, nul, uden, ingen",
    },
    Signal.LATER: {
        "en": "once, when, whenever, until, till, as soon as, after that, afterwards, eventually, later, tomorrow, soon, next run, next iteration, next round, next session, next turn, next message, next time, next pass, not yet, yet, will, i'll, we'll, 'll, shall, going to, about to, before i, before we, only then, only after, waiting, await*, pending, will be, reserve*, reserving, saving, for now, hold until, at the end of, last step, final step, upon",
        "de": "wenn, sobald, erst, bis, später, demnächst, morgen, danach, dann, werde, wird, werden, noch, nächste*, bevor, nachdem, künftig, warte, warten, vorerst",
        "nl": "zodra, wanneer, totdat, later, straks, morgen, daarna, zal, zullen, volgende, voordat, nadat, nog, wacht, wachten, voorlopig",
        "fr": "quand, lorsque, dès, une fois, jusqu'à, ensuite, bientôt, plus tard, demain, prochain*, sera, serai, vais, encore, avant de, tant que, attend*, j'attends, écrirai, afficherai, conclurai, terminerai, pour l'instant, enverrai",
        "es": "pronto para, es pronto, cuando, en cuanto, una vez, hasta que, hasta, después, luego, más tarde, mañana, próxim*, será, voy a, todavía, aún, antes de, tan pronto, espera*, responderé, escribiré, emitiré, imprimiré, terminaré, por ahora, de momento",
        "pt": "quando, assim que, uma vez, até que, até, depois, logo que, em breve, mais tarde, amanhã, próxim*, será, vou, ainda, antes de, espera*, só então, emitirei, escreverei, responderei, por enquanto, por ora",
        "it": "quando, appena, una volta, finché, fino a, dopo, poi, presto, più tardi, domani, prossim*, sarà, ancora, prima di, attend*, aspett*, scriverò, stamperò, emetterò, chiuderò, per ora, allora",
        "pl": "kiedy, gdy, jak tylko, dopiero, dopóki, aż, później, potem, wkrótce, jutro, następn*, będzie, będę, jeszcze, zanim, czekam, wypiszę, wyślę, na razie, napiszę",
        "ru": "когда, как только, пока, после того, затем, потом, скоро, позже, завтра, следующ*, будет, буду, ещё, еще, прежде чем, ожида*, жду, напишу, выведу, отправлю, тогда",
        "uk": "коли, як тільки, щойно, поки, доки, після того, потім, скоро, пізніше, завтра, наступн*, буде, буду, ще, перш ніж, чекаю, очіку*, напишу, виведу, надішлю, тоді",
        "tr": "olunca, bitince, geçince, sonra, zaman, kadar, yakında, yarın, gelecek, sonraki, *dığında, *diğinde, *duğunda, *düğünde, *ınca, *ince, *acağım, *eceğim, henüz, daha, önce, bekliyor*, şimdilik",
        "zh": "完成后, 通过后, 结束后, 我会, 就会, 我就, 没有完成, 没完成, 未完成, 不能, 无法, 不可以, 不会, 之后, 以后, 等到, 待, 直到, 稍后, 明天, 下一, 下次, 将会, 会在, 还没, 尚未, 再输出, 才会, 才能, 再, 之前, 等待, 暂时, 後, 后再, 时再",
        "ja": "できません, できない, 言えない, 言えません, 書けない, 書けません, 早い, したら, たら, 次第, まで, 後で, あとで, 明日, 次回, 次の, まだ, してから, 予定, つもり, 時点で, たとき, ときに, 前に, 待ち",
        "ko": "수 없, 못 , 되면, 하면, 나면, 후에, 때까지, 나중에, 내일, 다음, 아직, 예정, 겠습니다, 할게요, 때, 전에, 기다, 뒤에",
        "sv": "när, så snart, tills, senare, imorgon, kommer att, ännu, nästa, når, så snart, indtil, endnu, neste",
        "cs": "až, jakmile, dokud, ještě, později, zítra, příšt*, když",
    },
    Signal.CONDITION: {
        "en": "if, unless, provided, assuming, in case, as long as, should the, were it, had the, had i, had we, suppose*, only if, subject to, whether, depends, depending, contingent, on condition, would, could, might, may, otherwise, must",
        "de": "falls, sofern, wenn, vorausgesetzt, unter der bedingung, solange, angenommen, vorbehaltlich, würde, könnte, hätte, wäre, ob, müsste",
        "nl": "als, indien, mits, tenzij, ervan uitgaande, zolang, zou, zouden, onder voorbehoud",
        "fr": "si, s'il, à condition, sous réserve, à moins, pourvu, supposons, serait, pourrait, aurait, au cas où",
        "es": "si, siempre que, a menos que, salvo que, suponiendo, en caso de, sería, podría, habría, hubiera, con tal",
        "pt": "se o, se a, se os, se as, se não, se tudo, se todos, se for, se você, se alguém, caso, desde que, a menos que, supondo, contanto, seria, poderia, teria, tivesse, salvo ",
        "it": "se il, se la, se i, se le, se non, se tutto, se tutti, se vuoi, se fosse, se avessi, se avesse, se lo, se qualcuno, qualora, purché, a meno che, supponendo, a condizione, sarebbe, potrebbe, avrei, avessi, avesse, salvo",
        "pl": "jeśli, jeżeli, o ile, pod warunkiem, chyba że, zakładając, gdyby, byłoby, mógłby, czy",
        "ru": "если, при условии, разве что, предположим, бы, допустим, в случае, ли",
        "uk": "якщо, якби, за умови, хіба що, припустімо, би, у разі, чи",
        "tr": "eğer, şartıyla, koşuluyla, takdirde, varsayarsak, olursa, *ırsa, *irse, *ursa, *ürse, olsaydı, olurdu, sürece",
        "zh": "如果, 若, 假如, 倘若, 除非, 只要, 前提, 假设, 要是, 本可以, 的话",
        "ja": "もし, なら, れば, 場合, 条件, 仮に, 限り",
        "ko": "만약, 라면, 다면, 조건, 경우, 가정, 않는 한",
        "sv": "om, ifall, förutsatt, såvida, hvis, dersom, forudsat, skulle, medmindre, med mindre",
        "cs": "pokud, jestli, kdyby, za předpokladu, ledaže",
    },
    Signal.MENTION: {
        "en": "tag, tags, signal, signals, marker, markers, token, promise, sentinel, sign-off, sign off, signing off, output, outputting, print, printing, emit, emits, emitting, write, writing, say, saying, claim, claims, claiming, declare*, declaring, line, string, reply, answer, respond, end with, finish with, close with, conclude, magic word, completion phrase, keyword, type, utter*, announce*, call this, call it, mark this, mark it, report this, put, include, send, magic string, completion line, final word",
        "de": "tag, marke, marker, signal, kennung, zeichenkette, ausgeben, gebe, schreibe, schreiben, melde, melden, sage, behaupten, behaupte, antworte, antworten, zeile, versprechen, beenden, abschließen, meldung, setze, setzen, schließe",
        "nl": "tag, markering, signaal, uitvoeren, geven, geef, schrijf, schrijven, zeg, zeggen, melden, meld, antwoord*, regel, belofte, afsluiten, zetten, sluit",
        "fr": "balise, marqueur, signal, affiche*, afficher, écris, écrire, émettre, émets, dire, déclarer, répond*, ligne, promesse, conclure, envoyer, imprimer, produire, mettre, terminer par",
        "es": "etiqueta, marcador, señal, emitir, emito, imprimir, imprimo, escribir, escribo, decir, declarar, responder, línea, promesa, concluir, enviar, poner, mostrar, doy por",
        "pt": "tag, etiqueta, marcador, sinal, emitir, emito, imprimir, escrever, escrevo, dizer, declarar, responder, linha, promessa, concluir, enviar, colocar, dar por",
        "it": "tag, etichetta, marcatore, segnale, emettere, emetto, stampare, scrivere, scrivo, dire, dichiarare, rispondere, riga, promessa, concludere, inviare, mettere",
        "pl": "tag*, znacznik*, sygnał*, wypisać, wypisuję, wypisz, wyświetlić, napisać, pisać, ogłosić, ogłaszać, odpowiedzieć, linia, linii, obietnic*, zakończyć, zgłosić",
        "ru": "тег*, метк*, маркер*, сигнал*, вывести, вывожу, вывод, написать, пишу, писать, заявить, заявлять, ответить, строк*, обещани*, печата*, выдать, отправить, ставить, поставить, завершить",
        "uk": "тег*, мітк*, маркер*, сигнал*, вивести, виводжу, виводити, написати, пишу, писати, заявити, відповісти, рядок, рядк*, обіцянк*, друку*, надіслати, ставити, поставити",
        "tr": "etiket*, işaret*, sinyal*, yaz*, yazdır*, söyle*, diyemem, bildir*, satır*, söz*, çıktı*, cevap*, yanıt*",
        "zh": "标签, 标记, 標記, 標籤, 信号, 信號, 输出, 輸出, 打印, 写, 寫, 声明, 回答, 回复, 宣布, 承诺, 字符串, 说, 发出",
        "ja": "タグ, 合図, マーカー, シグナル, 出力, 書, 宣言, 返答, 応答, 回答, 行に, 表示, 出す, 出せ, 言え, 言う",
        "ko": "태그, 신호, 마커, 출력, 쓰, 적, 선언, 답, 표시, 약속, 말할, 말씀, 보낼",
        "sv": "taggen, tagg, signalen, skriva, skriver, skrive, svare, svara, skriv, vypsat, napsat, značk*",
    },
    Signal.SOURCE: {
        "en": "said, says, saying, wrote, writes, printed, prints, returned, returns, reported, reports, emitted, emits, answered, replied, claimed, claims, ended with, reads, read, contains, contained, according, prompt, instruction*, spec, specification, agents.md, claude.md, readme, previous run, previous iteration, previous session, earlier run, last run, previous agent, subagent, sub-agent, reviewer, worker, workers, agent, template, log, logs, transcript, docs, documentation, asks, asked, told, requires, required, supervisor, from the, quoting, quote, quoted, verbatim, by the, user, assistant, system, ticket, protocol, fixture, snippet, detector, parser, regex, loop, script, harness, model, output of",
        "de": "sagte, sagt, schrieb, schreibt, meldete, meldet, gab, gibt, laut, gemäß, prompt, anweisung*, spezifikation, vorlage, protokoll, vorherige*, letzte*, agent, subagent, unteragent, prüfer, zitat, doku, verlangt, lautet, steht, heißt, aufgabe lautet, skript",
        "nl": "zei, zegt, schreef, schrijft, meldde, meldt, gaf, volgens, prompt, instructie*, specificatie, sjabloon, log, vorige, agent, subagent, citaat, vraagt, luidt, staat",
        "fr": "dit, a dit, écrit, a écrit, affiché, renvoyé, selon, d'après, consigne*, instruction*, spécification, modèle, journal, précédent*, agent, sous-agent, relecteur, citation, demande, exige, script, comme dirait",
        "es": "dijo, dice, escribió, imprimió, devolvió, respondió, según, instruccion*, instrucción, especificación, plantilla, registro, anterior, agente, subagente, revisor, cita, pide, exige, debe",
        "pt": "disse, diz, escreveu, imprimiu, devolveu, respondeu, segundo, conforme, instruç*, especificação, modelo, registro, anterior, agente, subagente, revisor, citação, pede, exige, deve",
        "it": "disse, dice, detto, ha scritto, ha stampato, ha risposto, secondo, istruzion*, specifica, modello, precedente, agente, sottoagente, revisore, citazione, chiede, richiede, deve",
        "pl": "powiedział*, napisał*, zwrócił*, odpowiedział*, zgodnie, według, instrukcj*, specyfikacj*, szablon*, poprzedni*, agent*, podagent*, recenzent*, cytat*, każe, wymaga, ma być",
        "ru": "сказал*, написал*, вывел*, вернул*, ответил*, согласно, инструкци*, спецификаци*, шаблон*, предыдущ*, прошл*, агент*, субагент*, ревьюер*, цитат*, просит, требует, гласит, промпт*, лог*",
        "uk": "сказав*, написав*, вивів*, повернув*, відповів*, згідно, інструкці*, специфікаці*, шаблон*, попередн*, минул*, агент*, субагент*, рецензент*, цитат*, просить, вимагає, промпт*, лог*",
        "tr": "dedi, diyor, yazdı, yazmış, döndürdü, göre, talimat*, belirtim, şablon*, önceki, ajan*, alt ajan*, alıntı*, istiyor, istem",
        "zh": "说道, 写道, 返回, 根据, 按照, 指令, 说明, 提示词, 规范, 模板, 上一次, 上次, 之前的, 代理, 子代理, 引用, 要求, 日志, 文档, 提示",
        "ja": "によると, 指示, 仕様, テンプレート, 前回, エージェント, サブ, 引用, ログ, プロンプト, と返し, と出力し, と書いて",
        "ko": "따르면, 지시, 명세, 템플릿, 이전, 지난, 에이전트, 인용, 로그, 프롬프트, 라고",
    },
    Signal.EXAMPLE: {
        "en": "draft, mock, mock-up, simulat*, transcript, dry run, rehearsal of, example, examples, e.g, for instance, such as, like this, sample, hypothetical*, imagine, pretend, as if, placeholder, demo, illustrat*, would look, looks like, format, syntax, expected, fixture*, legend, means, meaning, stands for, valid, test case, ideally, should, supposed to, tempt*",
        "de": "beispiel*, zum beispiel, z.b, etwa, muster, platzhalter, format, syntax, bedeutet, legende, soll, sollte, testfall, erwartet*",
        "nl": "voorbeeld*, bijvoorbeeld, bijv, zoals, formaat, betekent, legenda, zou moeten, verwacht*, testgeval",
        "fr": "exemple*, par exemple, comme ceci, format, syntaxe, signifie, légende, devrait, attendu*, fictif",
        "es": "ejemplo*, por ejemplo, como este, formato, sintaxis, significa, leyenda, debería, esperad*",
        "pt": "exemplo*, por exemplo, formato, sintaxe, significa, legenda, deveria, esperad*",
        "it": "esempio, esempi, ad esempio, formato, sintassi, significa, legenda, dovrebbe, attes*, aspetto",
        "pl": "przykład*, na przykład, np, format, składnia, oznacza, legenda, powin*, oczekiwan*",
        "ru": "пример*, например, формат*, синтаксис*, означает, легенда, должн*, ожидаем*",
        "uk": "приклад*, наприклад, формат*, синтаксис*, означає, легенда, має бути, повин*, очікуван*",
        "tr": "örnek*, örneğin, mesela, biçim*, sözdizimi, anlamına, beklenen",
        "zh": "例如, 比如, 示例, 例子, 格式, 语法, 表示, 意思是, 意味着, 应该, 应当, 期望, 样例",
        "ja": "例えば, たとえば, 例, 形式, 構文, 意味, べき, はず, サンプル, 期待",
        "ko": "예를, 예시, 예:, 형식, 문법, 의미, 해야, 기대, 샘플",
    },
    Signal.PART: {
        "en": "part, parts, partial*, partly, phase, phases, stage, milestone, sub-task, subtask, subtasks, only, so far, half, portion, first this this item, this story, this task, this file, this module, this iteration, for now, most of, almost, nearly, mostly, in part, sprint, some of, wave, slice, batch",
        "de": "teil, teile, teilweise, teilaufgabe*, phase, etappe, abschnitt, nur, bisher, bislang, hälfte, fast, beinahe, großteil, schritt, meilenstein",
        "nl": "deel, delen, deels, gedeeltelijk, fase, stap, alleen, slechts, tot nu toe, helft, bijna, mijlpaal, deeltaak",
        "fr": "partie, partiel*, partiellement, phase, étape, seulement, uniquement, jusqu'ici, moitié, presque, jalon, sous-tâche*, volet, lot",
        "es": "parte, parcial*, parcialmente, fase, etapa, solo, sólo, solamente, hasta ahora, mitad, casi, hito, subtarea*, paso",
        "pt": "parte, parcial*, parcialmente, fase, etapa, somente, apenas, até agora, até aqui, metade, quase, marco, subtarefa*, passo",
        "it": "parte, parzial*, fase, tappa, solo, soltanto, solamente, finora, metà, quasi, sottoattività, passo, traguardo",
        "pl": "część, części, częściowo, faza, fazy, etap*, tylko, jedynie, dotychczas, połowa, prawie, podzadani*, krok*",
        "ru": "часть, части, частично, фаза, фазы, фазу, этап*, только, лишь, пока, половина, почти, подзадач*, шаг*",
        "uk": "частина, частини, частину, частково, фаза, фази, етап*, тільки, лише, поки, половина, майже, підзавдан*, крок*",
        "tr": "kısım, kısmı, kısmen, bölüm*, aşama*, sadece, yalnızca, şimdilik, yarısı, neredeyse, alt görev*, adım*",
        "zh": "部分, 阶段, 階段, 仅, 只, 目前为止, 一半, 几乎, 子任务, 步骤, 第一步",
        "ja": "部分, 一部, フェーズ, 段階, だけ, のみ, ここまで, 半分, ほぼ, ほとんど, サブタスク, ステップ",
        "ko": "부분, 일부, 단계, 만 , 지금까지, 절반, 거의, 하위",
    },
    Signal.PLAN: {
        "en": "plan, next, next steps, next step, steps, to do, todo, todos, to-do, roadmap, proposal, signals, legend, protocol, instructions, prompt, rules, rule, example, examples, format, template, checklist for, procedure, workflow, algorithm, how to, usage, stop condition, exit condition, stop signal, convention, conventions, handoff, hand-off, expected, sample, remaining work, what's left, what is left, agenda",
        "de": "plan, nächste schritte, nächster schritt, schritte, vorschlag, signale, legende, protokoll, anweisungen, regeln, beispiel*, format, vorlage, ablauf, offen, übergabe, vorgehen",
        "nl": "plan, volgende stappen, stappen, voorstel, signalen, legenda, instructies, regels, voorbeeld*, sjabloon, werkwijze, overdracht, aanpak",
        "fr": "plan, prochaines étapes, étapes, suite, proposition, signaux, légende, consignes, règles, exemple*, modèle, procédure, à faire, passation",
        "es": "plan, próximos pasos, siguientes pasos, pasos, propuesta, señales, leyenda, instrucciones, reglas, ejemplo*, plantilla, procedimiento, por hacer",
        "pt": "plano, próximos passos, passos, proposta, sinais, legenda, instruções, regras, exemplo*, modelo, procedimento, a fazer",
        "it": "piano, prossimi passi, passi, proposta, segnali, legenda, istruzioni, regole, esempio, esempi, modello, procedura, da fare",
        "pl": "plan, następne kroki, kolejne kroki, kroki, propozycja, sygnały, legenda, instrukcje, zasady, przykład*, szablon, do zrobienia",
        "ru": "план, следующие шаги, дальнейшие шаги, шаги, предложение, сигналы, легенда, инструкции, правила, пример*, шаблон, что дальше, дальше",
        "uk": "план, наступні кроки, подальші кроки, кроки, пропозиція, сигнали, легенда, інструкції, правила, приклад*, шаблон, що далі, далі",
        "tr": "plan, sonraki adımlar, adımlar, öneri, sinyaller, talimatlar, kurallar, örnek*, şablon, yapılacaklar",
        "zh": "计划, 計劃, 下一步, 步骤, 提案, 信号说明, 图例, 指令, 规则, 示例, 模板, 待办",
        "ja": "計画, 次のステップ, 手順, 提案, 凡例, 指示, 規則, ルール, 例, テンプレート, 今後, 予定",
        "ko": "계획, 다음 단계, 단계, 제안, 범례, 지시, 규칙, 예시, 템플릿, 할 일, 향후",
    },
    Signal.TAKEN_BACK: {
        "en": "i see that, i realise, i realised, i realize, i realized, i just saw, turns out, just found, just discovered, what i could, best i could, as much as i could, as far as i could, i give up, giving up, gave up, i stopped, simulation, simulated, mistake, grain of salt, or so i thought, strike the, strike this, strike my, forget it, forget that, forget the, i thought, before you trust, do not trust, don't trust, do not count, misjudged, misspoke, false, wishful, hasty, too good to be true, overstated, overclaimed, i exaggerated, retracting, confession, i admit, spoke too soon, scratch that, strike that, take that back, take it back, i retract, retract*, disregard*, ignore the, ignore that, ignore my, ignore this, ignore above, withdraw*, rescind*, revoke*, premature*, jumped the gun, on second thought, second thoughts, i was wrong, i was mistaken, my mistake, not so fast, false alarm, false positive, cancel that, undo that, void, null and void, does not count, doesn't count, shouldn't have, should not have, too early, too soon, too hasty, mistaken, in error, by mistake, not finished, not done, not complete, isn't done, isn't finished, isn't complete, aren't done, incomplete, unfinished, not ready, half-done, half done, not really, hold on, hold that, hang on, correction, never mind, nevermind, spoke early, i misread, misread, i overlooked, overlooked, i forgot, forgot, i missed, i had missed, wasn't true, isn't true, not true, is not true, stands corrected, to be honest, i lied, was wrong, was optimistic, too optimistic, keep going, keep looping, not actually, belay that, unsaid",
        "de": "zurücknehmen, nehme zurück, nehme das zurück, nehme ich zurück, widerrufe, ziehe zurück, ziehe ich zurück, korrektur, halt, moment mal, doch nicht, stimmt nicht, zu früh, voreilig, vorschnell, verfrüht, ignorier*, irrtum, geirrt, vergessen, übersehen, nicht fertig, noch nicht, falscher alarm, gilt nicht, ungültig, hinfällig, unvollständig, zurückgenommen",
        "nl": "correctie, neem terug, neem dat terug, trek in, trek dat in, toch niet, klopt niet, te vroeg, voorbarig, negeer*, vergissing, vergist, vergeten, over het hoofd gezien, niet klaar, nog niet, loos alarm, telt niet, ongeldig, onvolledig, wacht even",
        "fr": "je viens de voir, je m'aperçois, je constate, ne compile pas, ne fonctionne pas, en fait non, je retire, je me rétracte, correction, trop vite, trop tôt, prématuré*, ignorez, ignorer, oubliez, oublié, erreur de ma part, je me suis trompé*, pas fini, pas terminé, pas encore, fausse alerte, ne compte pas, incomplet, attendez, rectificatif, finalement non, au temps pour moi",
        "es": "acabo de ver, acabo de notar, me doy cuenta, noto que, no compila, no funciona, corrección, me retracto, retiro lo, me precipité, precipitado, demasiado pronto, prematuro, ignora*, ignore, olvidé, se me olvidó, me equivoqué, no está terminado, todavía no, aún no, falsa alarma, no cuenta, incompleto, espera, rectifico, me adelanté, pensándolo bien",
        "pt": "acabei de ver, percebi que, noto que, não compila, não funciona, correção, retiro o, retiro a, me precipitei, precipitei-me, cedo demais, prematuro, ignore*, ignorem, esqueci, me enganei, enganei-me, não está pronto, ainda não, alarme falso, não conta, incompleto, espera, espere, pensando bem, retifico",
        "it": "mi accorgo, mi sono accorto, mi sono accorta, non compila, non funziona, correzione, ritiro, mi rimangio, troppo presto, prematuro, ignora*, ho dimenticato, dimenticato, mi sono sbagliat*, non è finito, non ancora, falso allarme, non vale, non conta, incompleto, aspetta, aspettate, anzi, ripensandoci, rettifico, errata corrige",
        "pl": "korekta, cofam, wycofuję, odwołuję, za wcześnie, pospieszyłem, pośpieszyłem, przedwczesn*, zignoruj*, proszę zignorować, zapomniałem, zapomniałam, pomyliłem, pomyłka, jeszcze nie, fałszywy alarm, nie liczy się, niekompletn*, czekaj, chwila, jednak nie, sprostowanie",
        "ru": "поправка, исправление, беру назад, беру свои слова, отзываю, поторопился, поторопилась, поспешил*, рано, преждевремен*, игнорируйте, не учитывайте, забыл*, ошибся, ошиблась, не готово, ещё не, еще не, ложная тревога, не считается, стоп, погодите, подождите, постойте, минутку, не завершен*, отменяю, отбой, упустил*",
        "uk": "поправка, виправлення, беру назад, відкликаю, поспішив*, поквапився, зарано, передчасн*, ігноруйте, не враховуйте, забув, забула, помилився, помилилась, не готово, ще не, хибна тривога, не рахується, стоп, зачекайте, заждіть, хвилинку, не завершен*, скасовую, відбій, пропустив*",
        "tr": "düzeltme, geri alıyorum, geri aldım, erken konuştum, acele ettim, çok erken, erken davrandım, yok sayın, dikkate almayın, unuttum, unutmuşum, yanıldım, yanılmışım, bitmedi, bitmemiş, henüz değil, yanlış alarm, sayılmaz, eksik*, bekle, bekleyin, dur, durun, bir dakika, aslında hayır, iptal",
        "zh": "未修复, 没有修复, 没修复, 未解决, 没解决, 没有解决, 不通过, 没通过, 未通过, 没有通过, 更正, 收回, 撤回, 说早了, 為時過早, 为时过早, 忽略, 无视, 忘了, 忘记, 搞错, 弄错, 还没完成, 尚未完成, 未完成, 误报, 不算, 作废, 等等, 等一下, 慢着, 且慢, 稍等, 抱歉, 漏了, 遗漏, 高兴得太早, 取消",
        "ja": "訂正, 撤回, 取り消, 早すぎ, 早とちり, 時期尚早, 無視, 忘れ, 間違, 勘違い, 未完了, 未完成, まだ, 待って, 待った, 待てよ, お待ち, 見落と, すみません, 失礼, 実は, やっぱり, 誤り, 終わっていません",
        "ko": "정정, 철회, 취소, 성급, 너무 일찍, 무시, 잊, 착각, 실수, 아직, 미완료, 미완성, 잠깐, 잠시만, 기다려, 죄송, 빠뜨, 놓쳤, 사실은, 끝나지 않",
        "sv": "rättelse, tar tillbaka, för tidigt, ignorera, glömde, inte klar, vänta, oprava, beru zpět, počkat, ännu inte, endnu ikke, ikke ferdig",
    },
    Signal.TURN: {
        "en": "wait, actually, oops, whoops, oh, hmm, hm, ugh, argh, damn, sorry, apologies, edit, update, addendum, ps, p.s, but, however, although, except, unfortunately, alas, sadly, well, that said, then again, one thing, one more thing, one last thing, just noticed, i just noticed, i notice, i noticed, caveat, caveats, warning, careful, erratum, psych, kidding, just kidding, yet, reality check, post-check, later, still, on rechecking, re-checking, rechecking, looking again, double-checking, then i, after posting, after writing",
        "de": "moment, warte, eigentlich, ups, oh, hm, hmm, leider, aber, allerdings, jedoch, nachtrag, update, sorry, entschuldigung, außer, doch, achtung, warnung, einschränkung, stopp, ach",
        "nl": "wacht, eigenlijk, oeps, oh, hm, hmm, helaas, maar, echter, update, sorry, behalve, let op, waarschuwing, stop, bij nader inzien",
        "fr": "attends, attention, en fait, oups, oh, hm, hmm, malheureusement, hélas, mais, cependant, toutefois, pardon, désolé*, sauf, mise à jour, stop, minute, edit, ah",
        "es": "un momento, en realidad, ups, uy, vaya, oh, hm, hmm, lamentablemente, desgraciadamente, pero, sin embargo, perdón, perdona, lo siento, salvo, actualización, ojo, alto, ay",
        "pt": "um momento, na verdade, na realidade, ops, opa, oh, hm, hmm, infelizmente, mas, porém, contudo, entretanto, desculpe, desculpa, perdão, exceto, atualização, atenção, peraí, calma, ah",
        "it": "un momento, in realtà, ops, oh, hm, hmm, purtroppo, ma, però, tuttavia, scusa, scusate, tranne, aggiornamento, attenzione, fermi, un attimo, ah",
        "pl": "właściwie, ups, oj, hm, hmm, niestety, ale, jednak, przepraszam, oprócz, aktualizacja, uwaga, stop, moment",
        "ru": "вообще-то, на самом деле, ой, упс, хм, увы, к сожалению, но, однако, простите, извините, кроме, обновление, внимание, впрочем, хотя",
        "uk": "насправді, взагалі-то, ой, упс, хм, на жаль, але, проте, однак, вибачте, перепрошую, крім, оновлення, увага, втім, хоча",
        "tr": "aslında, pardon, hay aksi, hmm, hm, maalesef, ne yazık ki, ama, fakat, ancak, özür, hariç, güncelleme, dikkat, yalnız, tüh",
        "zh": "但, 不过, 不過, 可是, 然而, 其实, 實際上, 实际上, 糟糕, 哎, 遗憾, 对不起, 不对, 不对, 除了, 更新, 注意, 只是",
        "ja": "しかし, ただし, でも, ところが, 残念, おっと, 追記, 更新, 注意, が、, 申し訳",
        "ko": "하지만, 그러나, 그런데, 다만, 앗, 이런, 유감, 추가, 수정, 업데이트, 주의",
        "sv": "men, vänta, dock, tyvärr, desværre, dessverre, ale, bohužel, vent",
    },
    Signal.OPEN: {
        "en": "still, left over, are left, is left, following run, work left, for later, to follow, will follow, comes in, another pass, need work, needs work, need another, needs another, checking, re running, rerunning, running the, building now, running now, double check, let me run, let me double, let me verify, let me see, let me take, only did, only finished, only covers, first three, apart from, minus the, but one, with one exception, depends, assuming, provided, subject to, if and only if, needs, need, coming up, todo is, tbd, tbc, remaining, remains, remain, outstanding, to do, to-do, pending, unfinished, unresolved, incomplete, not started, not yet, in progress, wip, work in progress, still open, still red, still failing, still fails, still fail, still missing, still to, still need*, still has, still have, blocked, blocker, blockers, left to do, is left, are left, leftover, leftovers, open items, open points, open tasks, needs to, need to, needs work, must still, have to, has to, yet to, known gaps, gaps, not done, not finished, not implemented, not complete, unimplemented, unticked, unchecked, next up, next run, next iteration, next session, next round, next turn, i will, i'll, we'll, going to, i am continuing, i'll continue, continue, continuing, carry on, back to it, back to work, working on, please, tell me, your call, your decision, your ok, up to you, give me, i need, need your, let me fix, let me check, let me redo, let me look, let me go back, let me re, let me continue, to be done, to be fixed, to be written, follow-up needed, not verified, unverified, untested, not tested, not covered, never ran, did not run, didn't run, wasn't run, could not run, couldn't run, unable to, not fixed, unfixed, not merged, not pushed, not committed, not met, half, still running, still pending, queued, postponed, deferred, stub, stubs, stubbed, placeholder, placeholders, awaiting, skipped because, not done yet, there are two more, more to do, outlying, undone, stays open, stay open, is open, are open, not working, not work, doesn't work, do not work, don't work, does not work, doesn't compile, does not compile, doesn't build, does not build, waiting for, waiting on, investigating, debugging, looking into, remaining work, left over, missing",
        "de": "bitte, brauche, verbleib*, offen, offene, offener, offenen, ausstehend*, aussteht, ausstehen, unerledigt*, unfertig, fehlt, fehlen, fehlte noch, noch zu, noch nicht, in arbeit, muss noch, müssen noch, steht aus, stehen aus, nicht fertig, nicht implementiert, nicht getestet, ungetestet, weiter mit, mache weiter, werde, nächste runde, nächster durchlauf, nächsten durchlauf, nächste iteration, blockiert, zu erledigen, bleibt, bleiben, angefangen, noch rot, halb, kümmere",
        "nl": "alstublieft, graag jouw, resterend*, openstaand*, onafgewerkt, onvoltooid, ontbreekt, ontbreken, nog te, nog niet, moet nog, moeten nog, in uitvoering, niet klaar, niet af, niet getest, ga verder, volgende iteratie, volgende ronde, volgende run, geblokkeerd, te doen, blijft, blijven, halverwege, nog steeds, nog rood, mee bezig",
        "fr": "s'il vous plaît, merci de, reste, restent, restant*, à faire, en suspens, en cours, inachevé*, manque, manquent, manquant*, pas encore, bloqué*, non testé*, pas testé*, je continue, je reprends, prochain tour, prochaine itération, doit encore, doivent encore, faut encore, encore à, non terminé*, encore rouge*, toujours rouge*, incomplet*, à moitié, je vais, en attente",
        "es": "por favor, necesito, queda, quedan, restante*, pendiente*, por hacer, en curso, inacabad*, falta, faltan, todavía, aún, bloquead*, sin probar, sin terminar, continúo, sigo, continuaré, seguiré, próxima iteración, próxima vuelta, hay que, tengo que, incomplet*, a medias, voy a",
        "pt": "por favor, resta, restam, restante*, pendente*, pendência*, por fazer, em andamento, inacabad*, falta, faltam, ainda, bloquead*, sem testar, continuo, continuarei, próxima iteração, próxima rodada, preciso, tenho que, é preciso, incomplet*, pela metade, vou, a fazer",
        "it": "per favore, resta, restano, rimane, rimangono, rimanent*, da fare, in sospeso, in corso, incompiut*, manca, mancano, ancora, bloccat*, non testat*, continuo, continuerò, riprendo, prossima iterazione, prossimo giro, bisogna, devo, incomplet*, a metà, sto lavorando, pendent*",
        "pl": "proszę, pozostał*, pozostaje, zostało do, do zrobienia, w toku, niedokończon*, brakuje, jeszcze, nadal, wciąż, zablokowan*, nieprzetestowan*, kontynuuję, następna iteracja, następnej iteracji, trzeba, muszę, niekompletn*, w połowie, wracam, oczekuj*",
        "ru": "пожалуйста, осталось, осталась, остались, остаётся, остается, остаются, предстоит, в работе, незаверш*, не хватает, ещё, еще, всё ещё, все еще, по-прежнему, заблокирован*, не протестирован*, продолжаю, продолжу, следующая итерация, следующей итерации, нужно, надо, необходимо, не сделан*, не готов*, не реализован*, не закрыт*, наполовину, возвращаюсь, ожидает",
        "uk": "будь ласка, залишилося, залишилася, залишилися, лишилося, лишилась, лишилися, залишається, в роботі, незаверш*, бракує, ще, досі, все ще, заблокован*, не протестован*, продовжую, продовжу, наступна ітерація, наступній ітерації, треба, потрібно, необхідно, не зроблен*, не готов*, не реалізован*, не закрит*, наполовину, повертаюся, очікує",
        "tr": "lütfen, kalan, kaldı, kalanlar, kalıyor, yapılacak*, devam ediyor, devam ediyorum, devam edeceğim, tamamlanmadı, tamamlanmamış, bitmedi, eksik*, henüz, hâlâ, hala, engellendi, test edilmedi, sonraki turda, sonraki iterasyon, gerekiyor, gerek, lazım, bekliyor, bekleyen, yarım, açık",
        "zh": "请, 剩余, 剩下, 剩餘, 还剩, 還剩, 待办, 待完成, 待处理, 进行中, 未完成, 缺少, 还没, 還沒, 尚未, 仍, 仍然, 还有, 還有, 还需, 還需, 阻塞, 未测试, 继续, 下一轮, 下一次, 需要, 必须, 未实现, 没有完成, 没有实现, 还要, 一半",
        "ja": "ください, 残り, 残って, 残る, 未完了, 未実装, 未着手, 進行中, 作業中, 不足, 足りない, まだ, 未対応, 未テスト, 続け, 次の反復, 次回, 必要があり, 必要です, 要対応, 途中, 引き続き, できていません, ブロック, 未検証, 確認中, 保留",
        "ko": "주세요, 남은, 남아, 남았, 미완료, 미구현, 진행 중, 진행중, 부족, 누락, 아직, 여전히, 차단, 테스트하지, 계속, 다음 반복, 다음 회차, 필요, 해야, 미해결, 보류, 절반, 대기",
        "sv": "återstår, kvarstår, saknas, mangler, gjenstår, resterer, zbývá, chybí, stadig, fortfarande",
    },
    Signal.STILL: {
        "en": "am blocked, i'm blocked, i'm stuck, am stuck, still fail*, still failing, still red, still broken, still missing, still open, still crash*, still block*, still need*, still has to, still have to, still to be, still to do, still outstanding, still pending, still in progress, still unresolved, still not, still errors, still running, still waiting, is not done, are not done, is not finished, not started, not yet, in progress, remains to, remain to, remains open, remain open, remains unresolved, left to do, yet to be, unfinished, outstanding, not implemented, is blocked, are blocked, to be done, i can't tick, cannot tick, have not been, has not been, haven't been, hasn't been, keeps failing, keep failing, fails on, is failing, are failing, is broken, is red, are red, is missing, are missing",
        "de": "noch nicht, noch offen, noch rot, fehlt noch, fehlen noch, steht noch aus, stehen noch aus, noch ausstehend, muss noch, müssen noch, in arbeit, nicht fertig, schlägt noch, schlagen noch, schlägt weiterhin, schlägt fehl, schlagen fehl, ist rot, sind rot, weiterhin rot, bleibt offen, bleiben offen, nicht begonnen, unerledigt, bleibt noch, es fehlt, es fehlen",
        "nl": "nog niet, nog open, nog rood, moet nog, moeten nog, ontbreekt nog, ontbreken nog, niet klaar, faalt nog, falen nog, blijft open, niet begonnen, staat nog open, staan nog open, is rood, zijn rood, nog te doen",
        "fr": "pas encore, reste à, restent à, il reste, échoue encore, échouent encore, échoue toujours, échouent toujours, encore rouge*, toujours rouge*, en cours, pas fini, pas terminé, pas commencé, il manque, encore ouvert*",
        "es": "todavía no, aún no, todavía falla*, aún falla*, sigue fallando, siguen fallando, sigue en rojo, siguen en rojo, falta por, faltan por, queda por, quedan por, en curso, sin empezar, sin terminar, siguen abiert*, sigue abiert*, sigue pendiente, siguen pendientes",
        "pt": "ainda não, ainda falha*, continua falhando, continuam falhando, falta fazer, faltam, resta fazer, em andamento, não iniciad*, ainda há, ainda está, ainda estão, continua a falhar, continuam a falhar",
        "it": "non ancora, ancora rosso, ancora rossi, fallisce ancora, falliscono ancora, resta da, restano da, manca ancora, mancano ancora, in corso, non iniziat*, ancora apert*, ancora da",
        "pl": "jeszcze nie, nadal nie, wciąż nie, nadal czerwon*, pozostało do, zostało do, w toku, nie rozpoczęt*, nie jest gotow*, nadal failuj*, nadal pada*, wciąż pada*",
        "ru": "ещё не, еще не, всё ещё, все еще, до сих пор, по-прежнему, в работе, не готов*, не начат*, осталось доделать, осталось сделать, остаётся, остается",
        "uk": "ще не, все ще, усе ще, досі, й досі, в роботі, не готов*, не розпочат*, залишилося доробити, залишилося зробити, залишається",
        "tr": "henüz, hâlâ, hala, devam ediyor, başlanmadı, tamamlanmadı, bitmedi, hazır değil",
        "zh": "还没, 還沒, 尚未, 仍然失败, 仍失败, 还在失败, 进行中, 未完成, 没有完成, 还需要, 仍未, 還在",
        "ja": "まだ, 未完了, 進行中, 未着手, 未実装, 失敗したまま, 赤のまま, 終わっていません",
        "ko": "아직, 여전히, 미완료, 진행 중, 시작하지 않",
    },
    Signal.TROUBLE: {
        "en": "not, never, skipped, unhappy, disabled, commented out, stubbed out, mocked, throws, blank, harder than, out of time, says otherwise, complains, caveat, caveats, limitation, limitations, disappointing, suspect, suspicion, restart, risk, risks, risky, overlook*, no test covers, never checked, never run, bad news, worse, too large, too big, too slow, over the limit, above the limit, below the threshold, not one of, data loss, rolled back, backed out, 500, fail, fails, failed, failing, failure, failures, error, errors, errored, broken, breaks, broke, break, red, crash*, corrupt*, corruption, lost, loses, missing, unreachable, leak, leaks, leaking, leaked, regress*, regression, flaky, timeout, timed out, times out, hang, hangs, hanging, deadlock*, rejected, rejects, conflict*, wrong, wrongly, incorrect*, bug, bugs, buggy, defect*, problem*, known issue*, an issue, issues with, issue with, new issue*, found issue*, issues found, open issue*, following issue*, panic*, segfault*, exception, traceback, denied, refused, refuses, invalid, unhealthy, oom, stale, dropped, vanish*, disappear*, deleted by, destroyed, overwrote, mismatch*, differs, inconsistent, dangling, orphan*, suspicious, unsure, not sure, uncertain, doubt*, worried, worries, concern*, vulnerab*, insecure, doesn't, does not, cannot, can't, couldn't, could not, doesn't exist, does not exist, nobody has, incompatible, outdated, degraded, slower, exceeds, exceeded, unexpected*, undefined, wrong branch, not in sync, out of sync, did not, didn't, isn't, is not, aren't, are not, wasn't, was not, weren't, haven't, hasn't, has not, have not, forgot*, overlooked, omitted",
        "de": "ungetestet, übersprungen, deaktiviert, einschränkung*, nie, niemand, kein durchlauf, fehlschl*, fehlgeschlagen*, scheitert, scheitern, gescheitert, schlägt, schlagen, fehler, fehlerhaft, kaputt, defekt*, rot, rote, roten, absturz, stürzt, abgestürzt, verloren, verliert, verlor, unerreichbar, leck, regression, zeitüberschreitung, hängt, abgelehnt, verweigert, konflikt*, falsch*, problem*, ungültig, beschädigt, unklar, unsicher, bricht, zerbrochen, warnung, warnungen, abgebrochen, läuft nicht, geht nicht, funktioniert nicht, nicht",
        "nl": "faalt, falen, gefaald, mislukt*, mislukken, fout, fouten, kapot, stuk, rood, rode, crash*, verloren, onbereikbaar, lek, regressie, hangt, geweigerd, conflict*, verkeerd*, probleem, problemen, ongeldig, beschadigd, onduidelijk, breekt, werkt niet, niet",
        "fr": "échoue*, échouent, échoué*, échec*, erreur*, cassé*, casse, cassent, rouge*, plante*, perdu*, perd, injoignable, fuite*, régression*, délai dépassé, bloque, rejeté*, refusé*, conflit*, faux, fausse, incorrect*, problème*, bogue*, invalide, corromp*, doute, ne, pas, manquant*, disparu*",
        "es": "falla, fallan, falló, fallaron, fallando, fallo, fallos, fallido*, error, errores, roto, está rota, rompe*, rojo, rojos, roja, caíd*, perdid*, pierde, inaccesible, fuga, regresión, se cuelga, rechazad*, conflicto*, incorrect*, equivocad*, problema*, inválid*, corrupt*, duda*, no, ofensas",
        "pt": "falha, falham, falhou, falharam, falhando, falhas, erro, erros, quebrad*, quebra, quebrou, vermelh*, perdid*, perde, inacessível, vazamento, regressão, trava, rejeitad*, recusad*, conflito*, incorret*, errad*, problema*, inválid*, corromp*, dúvida*, não, nunca, nao",
        "it": "fallisce, falliscono, fallit*, fallimento, errore, errori, rotto, è rotta, rompe, rosso, rossi, rossa, pers*, perde, irraggiungibile, perdita, regressione, si blocca, rifiutat*, respint*, conflitt*, sbagliat*, errat*, problema, problemi, non valido, corrott*, dubbi*, non",
        "pl": "nie przechodz*, pada, padają, padł*, błąd, błędy, błędów, błęd*, zepsut*, czerwon*, utracon*, tracimy, nieosiągaln*, wyciek*, regresj*, zawiesza, odrzucon*, konflikt*, niepoprawn*, zły, złe, problem*, uszkodzon*, wątpliw*, nie",
        "ru": "падает, падают, упал*, сбой, сбои, ошибк*, ошибок, сломан*, ломает*, сломал*, красн*, потерян*, теряет*, недоступ*, утечк*, регресс*, зависает, отклон*, конфликт*, неверн*, неправильн*, проблем*, повреж*, сомнен*, не, провал*",
        "uk": "падає, падають, впав, впала, впали, збій, збої, помилк*, помилок, зламан*, ламає*, червон*, втрачен*, втрачає*, недоступн*, витік*, регрес*, зависає, відхилен*, конфлікт*, невірн*, неправильн*, проблем*, пошкодж*, сумнів*, не, провал*",
        "tr": "başarısız*, hata, hatası, hatalar, hatalı, bozuk, bozuldu, bozuyor, kırmızı, kırık, çöktü, çöküyor, kayıp, kayboldu, kaybediyor, erişilemiyor, sızıntı, regresyon, takılıyor, reddedildi, reddetti, çakışma*, yanlış*, sorun, sorunu, geçersiz, şüpheli, patladı, patlıyor, kaldı, geçmiyor, geçmedi, çalışmıyor, değil",
        "zh": "失败, 失敗, 错误, 錯誤, 报错, 崩溃, 损坏, 丢失, 無法, 无法, 泄漏, 回归, 超时, 卡住, 拒绝, 冲突, 不正确, 问题, 有误, 红, 异常, 不通过, 没通过, 没有, 没, 未, 不",
        "ja": "失敗, エラー, 壊れ, クラッシュ, 消え, 失わ, 到達でき, 漏れ, 退行, タイムアウト, 拒否, 競合, 不正, 問題, バグ, 赤, 例外, 落ち, 通ら, 通って, ません, ない",
        "ko": "실패, 오류, 에러, 깨졌, 깨진, 깨집, 크래시, 손실, 유실, 접근 불가, 누수, 회귀, 타임아웃, 거부, 충돌, 잘못, 문제, 버그, 빨간, 예외, 않, 못",
        "sv": "misslyckas, misslyckades, fel, trasig*, feiler, feilet, fejler, fejlede, selhal*, selhává, chyb*",
    },
    Signal.SETTLED: {
        "en": "did not need, didn't need, does not need, doesn't need, no need, need no, needs no, required no, fixed, fixes, fixed by, resolved, resolves, solved, repaired, repairs, cured, cures, gone, handled, handles, handling, no longer, any more, anymore, at first, initially, originally, first run, first attempt, first first build, was red, recovered, passes, passed, green, reverted, removed, removes, replaced, by design, as agreed, as as intended, covered, covers, added, adds, prevents, prevented, rejects, avoids, test for, tests for, regression test, regression tests, out of scope, not part of, unrelated, on purpose, intentional*, as asked, as requested, as instructed, as specified, untouched, not changed, not touched, unchanged, not needed, not required, documented, survive*, closed, cleared, eliminated, rather than, addressed, corrected, patched, validated, validates, tolerates, retries, retried, succeeded, went away, did not touch, didn't touch, did not change, didn't change, have not touched, left alone, left as, harmless, recover*",
        "de": "behoben, gelöst, repariert, korrigiert, nicht mehr, zuerst, anfangs, zunächst, grün, bestanden, entfernt, ersetzt, absichtlich, wie gewünscht, wie besprochen, unverändert, nicht angefasst, nicht geändert, nicht verändert, ergänzt, abgefangen, fängt, erledigt, geschlossen, verhindert, beseitigt, außerhalb, nicht nötig",
        "nl": "opgelost, verholpen, hersteld, gerepareerd, niet meer, aanvankelijk, groen, geslaagd, verwijderd, vervangen, bewust, zoals gevraagd, zoals afgesproken, ongewijzigd, niet aangeraakt, niet gewijzigd, toegevoegd, afgevangen, gesloten, voorkomt, niet nodig, buiten",
        "fr": "corrigé*, résolu*, réparé*, corrige, n'y en a plus, plus aucun*, au début, d'abord, initialement, vert*, passe, passent, supprimé*, remplacé*, volontairement, comme demandé, comme convenu, inchangé*, pas touché, pas modifié, ajouté*, géré*, gère, ferme, fermé*, évite, empêche, hors périmètre, pas nécessaire",
        "es": "corregid*, resuelt*, arreglad*, reparad*, solucionad*, ya no, al principio, inicialmente, verde, verdes, pasa, pasan, eliminad*, reemplazad*, a propósito, como se pidió, como pediste, sin cambios, no he cambiado, no he tocado, no toqué, no cambié, añadid*, agregad*, maneja, gestionad*, cerrad*, evita, valida, impide, fuera de alcance, no afecta, no hace falta",
        "pt": "corrigid*, resolvid*, consertad*, reparad*, já não, no início, no começo, inicialmente, verde, verdes, passa, passam, passando, passou, removid*, substituíd*, de propósito, conforme pedido, como combinado, sem mudanças, não mexi, não alterei, não toquei, adicionad*, trata, tratad*, fechad*, evita, valida, impede, fora do escopo, não afeta, não é preciso",
        "it": "corrett*, risolt*, riparat*, sistemat*, aggiustat*, non all'inizio, inizialmente, verde, verdi, passa, passano, rimoss*, sostituit*, apposta, come richiesto, come concordato, invariat*, non ho toccato, non ho modificato, aggiunt*, gestit*, gestisce, chius*, evita, valida, impedisce, fuori dal perimetro, non serve, fuori ambito",
        "pl": "naprawion*, poprawion*, rozwiązan*, już nie, na początku, najpierw, początkowo, zielon*, przechodz*, usunięt*, zastąpion*, celowo, zgodnie z prośbą, zgodnie z ustaleniami, bez zmian, nie ruszałem, nie zmieniałem, dodan*, obsłużon*, obsługuje, zamknięt*, zapobiega, poza zakresem, nie trzeba, nie dotyka*",
        "ru": "исправлен*, исправил*, починил*, починен*, решен*, решён*, устранен*, устранён*, устранил*, больше не, сначала, поначалу, вначале, зелен*, зелён*, проходит, проходят, прошли, удален*, удалён*, заменен*, заменён*, намеренно, как просили, как договаривались, без изменений, не трогал*, не менял*, не изменял*, добавлен*, обрабатыва*, закрыт*, вне рамок, не нужно, не требуется",
        "uk": "виправлен*, виправив*, полагоджен*, полагодив*, вирішен*, усунен*, усунут*, усунув*, більше не, спочатку, спершу, зелен*, проходить, проходять, пройшли, видален*, замінен*, навмисно, як просили, як домовлялися, без змін, не чіпав*, не змінював*, додан*, обробля*, закрит*, поза межами, не потрібно, не треба",
        "tr": "düzeltildi, düzelttim, çözüldü, çözdüm, giderildi, giderdim, artık, başta, ilk başta, yeşil, geçiyor, geçti, kaldırıldı, değiştirildi, bilerek, istendiği gibi, değişmedi, dokunmadım, değiştirmedim, eklendi, kapatıldı, kapsam dışı, gerekmedi, onarıldı",
        "zh": "已修复, 修复, 已解决, 解决, 不再, 起初, 最初, 一开始, 绿, 移除, 删除, 替换, 故意, 按要求, 未改动, 没有改动, 没有修改, 未修改, 没动, 新增, 添加, 防止, 避免, 超出范围, 不需要, 修正, 不变",
        "ja": "修正, 解決, 直し, 直り, なくなり, 最初, 当初, 緑, 通過, パス, 合格, 成功, 削除, 置き換え, 意図的, ご依頼, 変更なし, 変更していません, 触っていません, 触れていません, 追加, 対応済, 範囲外, 対象外, 不要, 解消",
        "ko": "수정, 고쳤, 해결, 더 이상, 처음, 초록, 통과, 제거, 교체, 의도, 요청대로, 변경 없음, 변경하지 않, 건드리지 않, 추가, 범위 밖, 불필요, 성공",
    },
    Signal.DONE: {
        "en": "that's everything, that is everything, that's the lot, that was everything, that was all, pushed, published, released, deployed, live, confirmed, built, uploaded, in order, no open, nothing open, migrated, signed off, tested, carried out, taken care of, dealt with, true, agree, agrees, matches, match, out the door, rolled out, handled, off the list, crossed off, cleared, exits 0, exit 0, up and running, reviewed, documented, written, done, finished, complete, completed, completes, complete!, implemented, shipped, delivered, verified, ready, passes, pass, passed, passing, green, satisfied, met, hold, holds, fulfilled, closed, resolved, fixed, wrapped up, merged, ticked, checked off, concluded, accomplished, good to go, all set, all good, in place, succeeded, success, successful*, nothing left, nothing remains, nothing is left, nothing is open, no further items, clean, achieved, settled, sorted, landed, works, working, done here, finalized, finalised, covered, addressed, through, all done, that's it, that is it, that's all, that is everything, mission accomplished",
        "de": "gepusht, veröffentlicht, ausgeliefert, stimmt, stimmen, deployt, getestet, geprüft, migriert, umgestellt, sauber, vollbracht, steht, dokumentiert, fehlerfrei, ausgerollt, live, fertig, erledigt, abgeschlossen, vollständig, umgesetzt, implementiert, abgehakt, geschafft, bestanden, grün, erfüllt, behoben, beendet, geliefert, verifiziert, bereit, läuft, laufen, durch, abgearbeitet, gelöst, nichts mehr offen, nichts offen, gemergt, komplett",
        "nl": "kloppen, klopt, gepusht, getest, gecontroleerd, gemigreerd, werkt, werken, uitgerold, gepubliceerd, live, gebouwd, akkoord, schoon, klaar, af, afgerond, voltooid, gereed, gedaan, geïmplementeerd, afgevinkt, geslaagd, groen, slagen, voldaan, opgelost, opgeleverd, afgewerkt, afgehandeld, compleet, niets meer",
        "fr": "publié*, déployé*, testé*, migré*, poussé*, fusionné*, fonctionne*, concord*, effectué*, réalisé*, propre*, respecté*, atteint*, couvert*, intégré*, terminé*, fini*, achevé*, fait, faite, faits, faites, complet*, complète*, implémenté*, livré*, validé*, vérifié*, passe, passent, vert*, coché*, prêt*, résolu*, remplies, satisfait*, accompli*, bouclé*, rempli*, en place, réussi*, traité*, réglé*",
        "es": "publicad*, desplegad*, probad*, migrad*, fusionad*, funciona, funcionan, correct*, satisfech*, hecho, realizad*, cubiert*, solucionad*, coinciden, limpio, terminad*, terminado, hecho, hecha, hechos, hechas, completad*, completo, completa, acabad*, finalizad*, implementad*, entregad*, verificad*, pasan, pasa, verde, verdes, marcad*, listo, lista, listos, listas, resuelt*, cumplid*, cumplen, cumple, cerrad*, concluid*, comprobad*",
        "pt": "publicad*, implantad*, migrad*, mesclad*, funciona, funcionam, corret*, satisfeit*, realizad*, cobert*, conferid*, limpo, batem, executad*, conclus*, terminad*, pronto, pronta, prontos, prontas, feito, feita, feitos, feitas, concluíd*, completo, completa, completad*, finalizad*, acabad*, implementad*, entregue*, verificad*, passam, passa, passando, verde, verdes, marcad*, resolvid*, cumprid*, encerrad*, atendid*, zerado, testad*",
        "it": "pubblicat*, migrat*, testat*, unit*, funziona, funzionano, corrett*, coperti, coperto, pulito, rispettat*, eseguit*, controllat*, rilasciat*, consegn*, raggiunt*, fuso, finito, finita, finiti, fatto, fatta, fatti, fatte, completat*, completo, completi, terminat*, conclus*, implementat*, consegnat*, verificat*, passano, passa, verde, verdi, spuntat*, pronto, pronta, pronti, risolt*, soddisfatt*, realizzat*, chius*, a posto, ultimat*",
        "pl": "opublikowan*, przetestowan*, zmigrowan*, scalon*, działa, działają, poprawn*, sprawdzon*, wypchnięt*, pokryt*, czyst*, przeniesion*, dopięt*, załatwion*, gotowe, gotowy, gotowa, zrobione, zrobion*, ukończon*, zakończon*, skończon*, kompletn*, zaimplementowan*, wdrożon*, dostarczon*, zweryfikowan*, przechodz*, zielon*, odhaczon*, spełnion*, rozwiązan*, zamknięt*, wykonan*, zrealizowan*, przeszły",
        "ru": "опубликован*, протестирован*, перенесен*, перенесён*, слит*, работает, работают, задеплоен*, сходятся, совпадают, покрыт*, чисто, исчерпан*, пройден*, выложен*, соблюден*, удовлетворен*, учтен*, учтён*, готово, готов, готова, готовы, сделано, сделан*, завершено, завершен*, завершён*, закончено, закончен*, закончил*, выполнено, выполнен*, реализован*, проверен*, проходят, проходит, прошли, зелён*, зелен*, отмечен*, закрыт*, решен*, решён*, исправлен*, внедрен*, полностью, доделан*",
        "uk": "опублікован*, протестован*, перенесен*, злит*, працює, працюють, збігаються, покрит*, чисто, пройден*, викладен*, дотриман*, враховано, зведено, виконані, готово, готовий, готова, готові, зроблено, зроблен*, завершено, завершен*, закінчено, закінчен*, виконано, виконан*, реалізован*, перевірен*, проходять, проходить, пройшли, зелен*, відмічен*, закрит*, вирішен*, виправлен*, впроваджен*, повністю, дороблен*",
        "tr": "yayınlandı, test edildi, taşındı, birleştirildi, çalışıyor, temiz, sağlandı, onaylandı, halledildi, bitmiştir, tamamlanmıştır, doğrulandı, başarıyla, geçiyor, bitti, tamam, tamamlandı, tamamladım, tamamı, hazır, yapıldı, uygulandı, geçti, geçiyor, yeşil, işaretlendi, doğrulandı, çözüldü, karşılandı, teslim, kapandı, kapatıldı, bitirdim, sonuçlandı, kalmadı, gerçekleştirildi",
        "zh": "发布, 部署, 测试过, 迁移完, 上线, 运行正常, 做完, 无误, 收工, 正常, 成功, 打勾, 落实, 完成, 已完成, 完毕, 完畢, 搞定, 结束, 实现, 通过, 通過, 就绪, 绿, 满足, 修复, 解决, 交付, 合并, 验证, 勾选, 达成, 大功告成",
        "ja": "公開し, デプロイし, テスト済, 移行し, マージし, 動作し, 問題ありません, 片付, できました, 済んで, 出来上が, 緑, 一致し, しました, 完了, 完成, 終了, 終わり, 終わりました, 終えました, 済み, 実装しました, 通過, 通りました, 成功, パス, 満たし, 解決, 対応しました, 達成, グリーン, チェック済, 揃い",
        "ko": "배포, 테스트했, 이전했, 병합, 동작, 정상, 됐습니다, 되었습니다, 했습니다, 일치, 초록, 완료, 완성, 끝났, 끝냈, 마쳤, 마무리, 구현했, 통과, 성공, 충족, 해결, 준비, 달성, 끝, 완수",
        "sv": "färdigt, slutfört, godkända, passerar, fullført, færdige, bestått, består, hotová, hotové, dokončeno, splněno, prošly, valmiit, valmista, suoritettu, läpi, elkészült, befejeztem, sikeres, finalizat*, terminat*, încheiat, ολοκληρώθηκ*, έτοιμο, έτοιμα, τελείωσ*, πέρασαν, اكتمل, اكتملت, تم, انتهى, انتهت, جاهز, הושלם, הושלמו, סיימתי, מוכן, पूर्ण, पूरा, पूरे, समाप्त, hoàn thành, hoàn tất, xong, selesai, rampung, berhasil, เสร็จ, gotovo, završeno, تمام, کامل, klar, klart, färdig*, klara, færdig*, ferdig, hotovo, hotov, dokončen*, valmis, kész, gata",
    },
    Signal.WHOLE: {
        "en": "all, everything, every, each, whole, entire, entirely, both, plan, task, tasks, work, job, project, spec, list, checklist, backlog, requirements, criteria, stories, items, boxes, migration, refactor*, issue, ticket, request, goal, nothing, none, fully, i'm done, i am done, we're done, we are done, scope, board, feature, prd, suite, assignment, mission, conditions, objective, deliverables, milestones, rewrite, upgrade, port, loop, last, final, end to end, end-to-end, top to bottom",
        "de": "alle, alles, jede, jeder, jedes, ganze, gesamt*, komplett, vollständig, beide, plan, aufgabe, aufgaben, arbeit, projekt, liste, anforderungen, kriterien, punkte, nichts, migration, auftrag, letzte*, sämtliche, umbau, ziel",
        "nl": "alle, alles, elke, ieder*, hele, gehele, volledig, beide, plan, taak, taken, werk, project, lijst, eisen, criteria, punten, niets, migratie, opdracht, laatste, doel",
        "fr": "tout, toute, tous, toutes, chaque, entier, entière*, entièrement, plan, tâche, tâches, travail, projet, liste, exigences, critères, points, rien, migration, mission, dernier, dernière, l'ensemble, objectif",
        "es": "todo, toda, todos, todas, cada, entero, entera, plan, tarea, tareas, trabajo, proyecto, lista, requisitos, criterios, puntos, nada, migración, encargo, último, última, objetivo",
        "pt": "tudo, todo, toda, todos, todas, cada, inteiro, inteira, plano, tarefa, tarefas, trabalho, projeto, lista, requisitos, critérios, pontos, nada, migração, último, última, objetivo, escopo",
        "it": "tutto, tutta, tutti, tutte, ogni, intero, intera, piano, compito, compiti, lavoro, progetto, lista, elenco, requisiti, criteri, punti, niente, nulla, migrazione, incarico, ultimo, ultima, attività, obiettivo",
        "pl": "wszystko, wszystkie, wszystkich, każd*, cał*, plan, zadanie, zadania, praca, projekt, lista, wymagania, kryteria, punkty, nic, migracja, ostatni*, cel",
        "ru": "все, всё, весь, вся, каждый, каждая, каждое, целиком, полностью, план, задача, задачи, задание, работа, проект, список, требования, критерии, пункты, ничего, миграция, последн*, цель, списка, плана",
        "uk": "усе, все, всі, усі, весь, увесь, вся, кожен, кожна, кожне, цілком, повністю, план, завдання, задача, задачі, робота, проєкт, проект, список, вимоги, критерії, пункти, нічого, міграція, міграцію, останн*, ціль, плану, списку",
        "tr": "her şey, hepsi, tüm, bütün, tamamı, her, plan, görev, görevler, iş, işler, proje, liste, gereksinimler, kriterler, maddeler, hiçbir, son, herşey, listedeki",
        "zh": "全部, 所有, 一切, 全, 均, 都, 每, 计划, 任务, 工作, 项目, 清单, 需求, 要求, 整个, 完整, 最后, 皆",
        "ja": "すべて, 全て, 全部, 全, 皆, 各, 計画, タスク, 作業, プロジェクト, 一覧, リスト, 要件, 項目, 移行, 最後, いずれも, 完全, これで",
        "ko": "모두, 모든, 전부, 전체, 다 , 각, 계획, 작업, 과제, 프로젝트, 목록, 요구, 항목, 마지막, 완전, 이로써",
    },
    Signal.OPTIONAL: {
        "en": "if you'd like, you'd like, you would like, if you need, if you prefer, up to you, thoughts, free to, ideas for later, thoughts for later, for another day, another time, nice addition, would be possible, welcome to, optional, optionally, optional:, future, later day, some day, someday, nice to have, nice-to-have, out of scope, outside the scope, outside of scope, beyond the scope, beyond scope, not part of, outside this, outside the, unrelated, if you want, if you like, if you wish, if desired, if wanted, if ever, if needed later, could, might, suggestion, suggestions, ideas, idea, one day, feel free, separate ticket, separate issue, non-blocking, not blocking, not required, not needed, would be nice, consider, possible improvements, possible follow-ups, no action, let me know, happy to, would you like me, want me to also, follow-up ideas, purely, in the future, down the road, long term, stretch, bonus, candidates",
        "de": "optional*, zukunft, irgendwann, später einmal, außerhalb, nicht teil, nicht bestandteil, wenn gewünscht, falls gewünscht, bei bedarf, auf wunsch, könnte, könnten, ließe sich, vorschlag, vorschläge, idee, ideen, gerne, nicht nötig, nicht erforderlich, unabhängig davon, denkbar, kür",
        "nl": "optioneel, optionele, toekomst, ooit, buiten scope, buiten de scope, geen onderdeel, desgewenst, eventueel, indien gewenst, zou kunnen, zouden kunnen, suggestie*, idee, ideeën, niet nodig, niet vereist, los hiervan",
        "fr": "facultatif*, optionnel*, en option, à l'avenir, un jour, hors périmètre, hors sujet, hors du périmètre, si vous voulez, si tu veux, si besoin, si souhaité, pourrait, pourraient, on pourrait, suggestion*, idée*, éventuellement, éventuel*, pas nécessaire, non bloquant*, pistes",
        "es": "opcional*, en el futuro, algún día, fuera de alcance, fuera del alcance, si quieres, si quiere, si se quiere, si se desea, si algún día, podría*, se podría, sugerencia*, idea*, eventualmente, no es necesario, no forma parte, a futuro, no bloquea*",
        "pt": "opciona*, no futuro, futuro, um dia, algum dia, fora do escopo, fora de escopo, se quiser, se desejar, se algum dia, poderia*, sugest*, ideia*, eventualmente, não é necessário, não faz parte, não bloqueia*",
        "it": "opzional*, facoltativ*, in futuro, un giorno, fuori dal perimetro, fuori ambito, fuori scope, se vuoi, se volete, se si vuole, se interessa, si potrebbe, potrebbe, suggeriment*, idea, idee, eventual*, non necessari*, non fa parte",
        "pl": "opcjonaln*, w przyszłości, kiedyś, poza zakresem, jeśli chcesz, jeśli zechcesz, można by, można, sugesti*, pomysł*, ewentualn*, niekonieczn*, nie jest wymagan*, przyszłość",
        "ru": "необязательн*, опциональн*, по желанию, в будущем, на будущее, когда-нибудь, вне рамок, за рамками, если захотите, если хотите, можно, можно было бы, предложени*, иде*, не требуется, не блокир*, не входит",
        "uk": "необов'язков*, необов’язков*, опціональн*, за бажанням, за бажання, у майбутньому, в майбутньому, на майбутнє, колись, поза межами, якщо захочете, якщо хочете, можна, можна було б, пропозиці*, іде*, не потрібно, не блоку*, не входить",
        "tr": "isteğe bağlı, opsiyonel, gelecekte, ileride, bir gün, kapsam dışı, kapsamın dışında, isterseniz, istersen, olabilir, yapılabilir, eklenebilir, öneri*, fikir*, zorunlu değil, gerekli değil",
        "zh": "可选, 可選, 将来, 未来, 以后, 日后, 有朝一日, 范围之外, 超出范围, 如果愿意, 如果需要, 如有需要, 可以考虑, 建议, 建議, 想法, 非必需, 非必须, 不必, 不属于, 可考虑",
        "ja": "任意, オプション, 将来, いつか, 範囲外, 対象外, ご希望, お好み, 提案, アイデア, 必須ではあり, 必要であれば, かもしれません, できるかも, 余談, 参考",
        "ko": "선택 사항, 선택사항, 선택적, 향후, 나중에, 언젠가, 범위 밖, 범위 외, 원하시면, 필요하면, 제안, 아이디어, 필수는 아, 고려",
        "sv": "valfri*, valgfri*, frivillig*, volitel*",
    },
    Signal.LABEL: {
        "en": "status, result, results, final status, final answer, signal, completion, completion signal, completion promise, promise, sign-off, final signal, final result, conclusion, verdict, outcome, summary, final state, wrap-up, wrap up, state, final report, report, overall, overview, recap, session summary, completion status, done, final, end, closing",
        "de": "status, ergebnis, fazit, zusammenfassung, abschluss, endstand, abschlussstatus, bericht, abschlussbericht, stand, resultat",
        "nl": "status, resultaat, conclusie, samenvatting, afronding, eindstatus, rapport, afsluiting",
        "fr": "statut, état, résultat, résultats, conclusion, bilan, résumé, récapitulatif, état final, rapport, clôture, synthèse",
        "es": "estado, resultado, resultados, conclusión, resumen, estado final, informe, cierre, resumen final",
        "pt": "estado, status, resultado, resultados, conclusão, resumo, estado final, relatório, encerramento, resumo final",
        "it": "stato, esito, risultato, risultati, conclusione, riepilogo, stato finale, rapporto, chiusura, sintesi",
        "pl": "status, wynik, wyniki, wniosek, podsumowanie, stan, raport, zakończenie",
        "ru": "статус, результат, результаты, итог, итоги, вывод, сводка, состояние, отчёт, отчет, заключение",
        "uk": "статус, результат, результати, підсумок, підсумки, висновок, стан, звіт",
        "tr": "durum, sonuç, sonuçlar, özet, son durum, rapor",
        "zh": "状态, 狀態, 结果, 結果, 结论, 总结, 總結, 小结, 最终状态, 报告",
        "ja": "状態, 状況, 結果, 結論, まとめ, 最終, 報告, ステータス, サマリー",
        "ko": "상태, 결과, 결론, 요약, 최종, 보고, 정리",
    },
    Signal.THANKS: {
        "en": "thanks, thank you, pleasure, fun, enjoy, enjoyed, cheers, congratulations, congrats, kudos, great, nice, happy, glad, weekend, see you, bye, goodbye, good luck, have a, full picture, here's, here is, here are, summary, details, for reference, for the record, for your information, fyi, best regards, regards, proud, appreciated, appreciate, hooray, hurray, yay, woohoo, phew, what changed, see",
        "de": "danke, dank, vielen dank, gern, gerne, freude, spaß, glückwunsch, schön, schönes, schönen, viel erfolg, prima, super, grüße, hier ist, hier sind, siehe, zusammenfassung, details",
        "nl": "bedankt, dank, dankjewel, plezier, gefeliciteerd, fijn, fijne, leuk, succes, groet, groeten, hier is, hier zijn, zie, samenvatting",
        "fr": "merci, plaisir, bravo, félicitations, bonne, bon, belle, à bientôt, cordialement, voici, voir, ravi*, heureux",
        "es": "gracias, placer, gusto, felicidades, enhorabuena, buen, buena, saludos, aquí está, aquí tienes, ver, contento, encantado",
        "pt": "obrigado, obrigada, agradeço, valeu, prazer, parabéns, bom, boa, abraço, abraços, aqui está, veja, ver, feliz",
        "it": "grazie, piacere, complimenti, buon, buona, saluti, ecco, vedi, felice, bel",
        "pl": "dzięki, dziękuję, miło, przyjemność, gratulacje, miłego, pozdrawiam, oto, zobacz",
        "ru": "спасибо, благодарю, приятно, удовольствие, поздравляю, хороших, хорошего, удачи, вот, см",
        "uk": "дякую, спасибі, вдячн*, приємно, задоволення, вітаю, гарного, гарних, удачі, ось, див",
        "tr": "teşekkür*, sağ ol, sağolun, keyif*, zevk*, tebrik*, kolay gelsin, iyi, işte",
        "zh": "谢谢, 感谢, 多谢, 愉快, 恭喜, 祝, 辛苦, 以下是, 详见",
        "ja": "ありがと, 感謝, お疲れ, おつかれ, 楽し, おめでと, 以下, ご覧, 参照, よろしく",
        "ko": "감사, 고맙, 수고, 즐거, 축하, 아래, 참고, 좋은",
        "sv": "tack, tak, takk, děkuji, díky, kiitos, köszönöm, mulțumesc, ευχαριστώ, شكرا, תודה, धन्यवाद, cảm ơn, terima kasih",
    },
    Signal.KNOWN: {
        "en": "the, a, an, of, and, to, in, is, was, it, for, with, on, that, this, are, at, by, i, from, be, has, no, all, as, or, now, via",
        "de": "der, die, das, und, ist, ein, eine, in, mit, auf, für, von, zu, ich, den, dem, im, auch, alle, es, wurde, nicht, des, sind",
        "nl": "de, het, een, en, is, van, in, met, op, voor, ik, dat, die, te, zijn, door, alle, er, aan, bij, nu, ook",
        "fr": "le, la, les, un, une, et, est, de, des, du, en, dans, pour, avec, sur, je, au, par, que, qui, sont, à, ce, plus, ai, toutes, tous",
        "es": "el, la, los, las, un, una, y, es, de, del, en, para, con, por, que, se, al, son, he, su, lo, más, todo, todas, todos, sin",
        "pt": "o, a, os, as, um, uma, e, é, de, do, da, em, no, na, para, com, por, que, se, ao, são, dos, das, mais, tudo, sem, todos",
        "it": "il, lo, la, i, gli, le, un, una, e, è, di, del, della, in, per, con, che, si, al, sono, ho, da, dei, nel, tutti, tutto, senza, su",
        "pl": "i, w, na, z, do, jest, się, że, to, dla, po, o, są, oraz, bez, od, przez, ten, jak, a",
        "ru": "и, в, на, с, по, что, это, для, из, к, не, от, а, все, за, у, как, без",
        "uk": "і, й, та, в, у, на, з, по, що, це, для, із, до, не, від, а, всі, за, як, без",
        "tr": "ve, bir, bu, için, ile, de, da, olarak, tüm, her, çok, en, var, oldu, şu, ki",
    },
}


SPACELESS = frozenset({"zh", "ja", "ko"})
_ALWAYS = frozenset({"en", "sv", "cs"})
_WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> list[str]:
    """The words of a casefolded text, apostrophes and hyphens taken as gaps, as in the tables."""
    return _WORD.findall(text)


def _entries(signal: Signal, language: str) -> list[str]:
    return [entry.strip() for entry in _TABLES[signal].get(language, "").split(",") if entry.strip()]


_Phrase = tuple[tuple[str, ...], bool, Signal, str]


def _index() -> dict[str, list[_Phrase]]:
    """Phrases of the spaced languages by their first word; a lone stem is kept under `stem*`."""
    index: dict[str, list[_Phrase]] = {}
    for signal, languages in _TABLES.items():
        for language in languages.keys() - SPACELESS:
            for entry in _entries(signal, language):
                if entry.startswith("*"):
                    continue
                tokens, open_end = tuple(words_of(entry.casefold())), entry.endswith("*")
                key = tokens[0] + ("*" if open_end and len(tokens) == 1 else "")
                index.setdefault(key, []).append((tokens, open_end, signal, language))
    return index


_INDEX = _index()
_STEMS = sorted({len(key) - 1 for key in _INDEX if key.endswith("*")})
_ENDINGS = [(entry[1:], signal) for signal in _TABLES for entry in _entries(signal, "tr") if entry.startswith("*")]
_SCRIPTS = {
    "zh": re.compile(r"[\u3400-\u9fff]"),
    "ja": re.compile(r"[\u3040-\u30ff]"),
    "ko": re.compile(r"[\uac00-\ud7a3]"),
}
_SUBSTRINGS = {language: [(entry, signal) for signal in _TABLES for entry in _entries(signal, language)] for language in SPACELESS}


def languages_of(text: str) -> frozenset[str]:
    """The languages whose small words a casefolded text is full of; empty where that cannot be told."""
    counts: dict[str, int] = {}
    for word in words_of(text):
        for _, _, signal, language in _INDEX.get(word, ()):
            if signal is Signal.KNOWN:
                counts[language] = counts.get(language, 0) + 1
    best = max(counts.values(), default=0)
    found = {language for language, count in counts.items() if best >= 3 and count * 10 >= best * 7}
    found |= {language for language, script in _SCRIPTS.items() if script.search(text)}
    return frozenset(found)


def signals_of(text: str, languages: frozenset[str] = frozenset()) -> frozenset[Signal]:
    """What the words of a casefolded text signal, read in these languages (none given: in all)."""
    found: set[Signal] = set()
    spoken = languages | _ALWAYS if languages else frozenset()
    words = words_of(text)
    for at, word in enumerate(words):
        keys = [word, *(word[:length] + "*" for length in _STEMS if length <= len(word))]
        for key in keys:
            for tokens, open_end, signal, language in _INDEX.get(key, ()):
                if (not spoken or language in spoken) and _follows(words, at, tokens, open_end=open_end):
                    found.add(signal)
        if "tr" in languages:
            found |= {signal for ending, signal in _ENDINGS if word.endswith(ending)}
    for language, script in _SCRIPTS.items():
        if script.search(text):
            found |= {signal for entry, signal in _SUBSTRINGS[language] if entry in text}
    return frozenset(found)


def _follows(words: list[str], at: int, tokens: tuple[str, ...], *, open_end: bool) -> bool:
    """Whether a phrase stands at this word."""
    here = words[at : at + len(tokens)]
    if len(here) < len(tokens) or tuple(here[:-1]) != tokens[:-1]:
        return False
    return here[-1].startswith(tokens[-1]) if open_end else here[-1] == tokens[-1]
