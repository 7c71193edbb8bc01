"""What is not the answer: reasoning, and the tokens of a chat template that leaked into the text."""

from __future__ import annotations

import re
from typing import Final

_NAMES: Final = (
    "think|thinking|thoughts?|reasoning|reason|reflection|scratchpad|analysis|inner_monologue|chain_of_thought"
    "|seed:think|ragionamento|pensiero|pensieri"
)
# One scan over every way current models mark their reasoning. Whoever closes, closes: models mix their tags.
_EDGES = re.compile(
    rf"""
      (?P<open>
          <(?:{_NAMES})(?:\s[^<>]{{0,200}})?>                                # DeepSeek, Qwen, EXAONE, Hunyuan, Seed
        | \[THINK\]                                                          # Magistral
        | ◁think▷                                                            # Kimi
        | <\|(?:begin_of_thought|START_THINKING|begin_of_reasoning|thinking|think)\|>
        | <\|channel\|?>\s?(?:analysis|commentary|thought)(?:\s[^<>]{{0,100}})?(?:<\|message\|>)?   # gpt-oss, Gemma
        | <unused94>(?:thought)?                                             # MedGemma
        | <details\s+type="reasoning"[^<>]{{0,200}}>                         # web front ends
      )
    | (?P<close>
          </(?:{_NAMES})\s?>
        | \[/THINK\] | ◁/think▷ | <\|(?:end_of_thought|END_THINKING|end_of_reasoning|/thinking|/think)\|>
        | <\|channel\|>final(?:\s[^<>]{{0,60}})?<\|message\|> | <channel\|> | <unused95>
      )
    | (?P<end><\|end\|>) | (?P<details></details>)
    """,
    re.VERBOSE | re.IGNORECASE,
)
# gpt-oss with its special tokens stripped off
_BARE_CHANNEL = re.compile(r"\s*analysis(?=[A-Z\n])")

_TURN_END = re.compile(
    r"<\|(?:im_end|eot_id|endoftext|end_of_text|end|return|eom_id|END_OF_TURN_TOKEN|end_of_turn|eos|user)\|>"
    r"|<end_of_turn>|<eos>|</s>|<｜end▁of▁sentence｜>|<\|im_start\|>\s?user"
)
_TEMPLATE = re.compile(
    r"<\|im_start\|>\s?(?:assistant|system)?|<\|start_header_id\|>\w{1,20}<\|end_header_id\|>|<start_of_turn>(?:model)?"
    r"|<\|start\|>(?:assistant)?|<\|(?:assistant|begin_of_text|message|START_RESPONSE|END_RESPONSE|begin_of_solution"
    r"|end_of_solution|constrain|CHATBOT_TOKEN|START_OF_TURN_TOKEN)\|>|<\|channel\|>\w{0,12}"
    r"|\[/?INST\]|<bos>|<s>|<unk>|<pad>|<｜(?:Assistant|begin▁of▁sentence)｜>"
)
_ROLE = re.compile(r"\s{0,80}(?:assistant|assistente|model|ai|chatbot|bot)\s?:\s?", re.IGNORECASE)
_ANSWER = re.compile(
    r"<(/?)(answer|final_answer|risposta|risposta_finale|response|output|solution|result|final)>", re.IGNORECASE
)


def without_reasoning(text: str, steps: list[str]) -> str | None:
    """`text` less its reasoning; `None` where a block is opened and never closed."""
    if _BARE_CHANNEL.match(text):
        final = text.rfind("assistantfinal")
        if final < 0:
            steps.append("reasoning opened by «analysis» and never closed")
            return None
        steps.append(f"reasoning taken off: {final:,} characters up to «assistantfinal»")
        text = text[final + len("assistantfinal") :]
    if "<" not in text and "[" not in text and "◁" not in text:
        return text
    kept: list[str] = []
    position = 0
    opened: re.Match[str] | None = None
    for edge in _EDGES.finditer(text):
        if opened is None:
            if edge["open"]:
                opened = edge
                kept.append(text[position : edge.start()])
            elif edge["close"]:
                steps.append(f"all before the end tag «{_shown(edge)}» taken off: reasoning without a beginning")
                kept, position = [], edge.end()
        elif edge["close"] or edge["end" if "channel" in opened.group() else "details"]:
            steps.append(f"reasoning taken off: {edge.end() - opened.start():,} characters in «{_shown(opened)}»")
            opened, position = None, edge.end()
    if opened is not None:
        steps.append(f"reasoning opened by «{_shown(opened)}» and never closed")
        return None
    kept.append(text[position:])
    return "\n".join(kept)


def without_template(text: str, steps: list[str]) -> str:
    """`text` less the tokens of a chat template, from the first end of turn on, and outside `<answer>` tags."""
    if role := _ROLE.match(text):
        steps.append(f"«{role.group().strip()}» taken off")
        text = text[role.end() :]
    if "<" not in text and "[" not in text:
        return text
    for end in _TURN_END.finditer(text):
        if _TEMPLATE.sub("", text[: end.start()]).strip():
            if text[end.end() :].strip():
                steps.append(f"all after the end of the turn «{end.group()}» taken off")
            text = text[: end.start()]
            break
    text, tokens = _TEMPLATE.subn("\n", text)
    if tokens:
        steps.append("tokens of the chat template taken off")
    return _inside_answer(text, steps)


def _inside_answer(text: str, steps: list[str]) -> str:
    inside: list[str] = []
    start: int | None = None
    for tag in _ANSWER.finditer(text):
        if not tag[1] and start is None:
            start = tag.end()
        elif tag[1] and start is not None:
            inside.append(text[start : tag.start()])
            start = None
    if start is not None:
        inside.append(text[start:])
    if not any(part.strip() for part in inside):
        return _ANSWER.sub("", text)
    steps.append("only what stands between the answer tags read")
    return "\n".join(inside)


def _shown(match: re.Match[str]) -> str:
    return match.group()[:40].replace("\n", " ")
