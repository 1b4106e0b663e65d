// "Copy as": the same request from a shell and from Python, with a place for the key and never the key.

/** A text as JSON and Python both read it, in printable ASCII, so that pasting it does nothing else. */
const quoted = (value) => JSON.stringify(value).replace(/[\u007f-\uffff]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);

function curl(prompt, n) {
  const lines = [`curl ${location.origin}/v1/chat/completions`];
  if (key) lines.push('  -H "Authorization: Bearer $STEELYARD_KEY"');
  lines.push('  -H "Content-Type: application/json"', `  -d '${quoted(requestOf(prompt, n)).replaceAll("'", "\\u0027")}'`);
  return lines.join(" \\\n");
}

/** A text for Python: halves of surrogate pairs become whole characters again. */
const pythonText = (text) => {
  const escaped = [...text].map((each) => {
    const point = each.codePointAt(0);
    return point > 0xffff ? `\\U${point.toString(16).padStart(8, "0")}` : quoted(each).slice(1, -1);
  });
  return `"${escaped.join("")}"`;
};

function python(prompt, n) {
  return [
    ...(key ? ["import os", ""] : []),
    "from openai import OpenAI",
    "",
    `client = OpenAI(base_url="${location.origin}/v1", api_key=${key ? 'os.environ["STEELYARD_KEY"]' : '"none"'})`,
    "reply = client.chat.completions.create(",
    `    model=${pythonText(server.model)},`,
    `    messages=[{"role": "user", "content": ${pythonText(prompt)}}],`,
    `    extra_body={"steelyard": {"n": ${n}}},`,
    ")",
    "print(reply.choices[0].message.content)",
    'print(reply.model_extra["steelyard"]["confidence"])',
  ].join("\n");
}

/** Both, each with a button that copies it. */
function code(prompt, n) {
  return [["curl", curl(prompt, n)], ["Python", python(prompt, n)]].flatMap(([name, text]) => {
    const shown = make("pre", "", make("code", "", text), { tabindex: "0", "aria-label": `${name} code` });
    const said = make("span", "count", "", { role: "status" });
    const button = make("button", "small", `Copy as ${name}`, { type: "button" });
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text);
        said.textContent = "Copied.";
      } catch {
        getSelection().selectAllChildren(shown);
        said.textContent = "Selected: copy it with your keyboard.";
      }
    });
    return [make("div", "code-head", [button, said]), shown];
  });
}
