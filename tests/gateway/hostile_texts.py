"""Texts that a page must show and never run: two hundred of them, each on one line."""

from __future__ import annotations

from itertools import product

RUN = "window.hacked=1"
TAGS = [
    "img src=x onerror={}", "svg onload={}", "svg/onload={}", "body onload={}", "details open ontoggle={}",
    "input autofocus onfocus={}", "video src=x onerror={}", "audio src=x onerror={}", "marquee onstart={}",
    "iframe onload={}", "object data=javascript:{}", "embed src=javascript:{}", "a href=javascript:{}",
    "form action=javascript:{}", "button onclick={}", "style onload={}", "link rel=stylesheet href=x onerror={}",
    "base href=javascript:{}//", "math href=javascript:{}", "select autofocus onfocus={}",
]  # fmt: skip
AROUND = ["<{}>", "<{}>text</x>", '"><{}>', "'><{}>", "</textarea><{}>", "</title><{}>", "</style><{}>", "--><{}>"]
OTHERS = [
    f"<script>{RUN}</script>", f"</script><script>{RUN}</script>", f"<ScRiPt>{RUN}</sCrIpT>",
    f"<script src=data:text/javascript,{RUN}></script>", f"<svg><script>{RUN}</script></svg>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'>", f"<template><script>{RUN}</script></template>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<link rel=stylesheet href=//evil.example/a.css>",
    "<img src=https://evil.example/a.png>", "<style>*{display:none}</style>", f"javascript:{RUN}",
    f"data:text/html,<script>{RUN}</script>", f"{{{{constructor.constructor('{RUN}')()}}}}", f"${{{RUN}}}",
    f"`${{{RUN}}}`", f"');{RUN};//", f'");{RUN};//', f"\\u003cscript\\u003e{RUN}\\u003c/script\\u003e",
    f"&lt;script&gt;{RUN}&lt;/script&gt;", f"&#60;script&#62;{RUN}&#60;/script&#62;", f"%3Cscript%3E{RUN}%3C/script%3E",
    "<!--", "-->", "]]>", "<![CDATA[x]]>", "<?xml version='1.0'?>", "\u202egnirts thgir\u202c",
    "\u200f\u200e\u2066x\u2069",
    "W" * 3000, "\x07 bell \x1b[31m red", "a\u2028b\u2029c", "$style $script $$", "__proto__", "constructor",
    "toString", "hasOwnProperty", "1" * 400, "\ufeff\ufffe\uffff", "🧮" * 50,
]  # fmt: skip
TEXTS = [around.format(tag.format(RUN)) for around, tag in product(AROUND, TAGS)] + OTHERS
