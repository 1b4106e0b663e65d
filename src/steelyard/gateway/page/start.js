// What happens when the page is opened.

const COUNTS = [1, 2, 4, 8, 16, 32, 64];
const EXAMPLES = ["What is 17 times 23?", "How many days are three weeks and two days?"];

/** Show what the server offers. */
async function opened() {
  const [visit] = performance.getEntriesByType("navigation");
  if (!key && visit && visit.responseStatus === 401) return locked("");
  try {
    await refresh();
  } catch (error) {
    if (error.refused) return locked(key ? error.message : "");
    part("desk").hidden = false;
    part("problem").textContent = error.message;
    part("problem").hidden = false;
    return;
  }
  part("key-form").hidden = true;
  part("desk").hidden = false;
  part("forget").hidden = !key;
  part("model").textContent = server.model;
  const counts = [...new Set([...COUNTS, server.n])].filter((n) => n <= server.most).sort((a, b) => a - b);
  part("samples").replaceChildren(...counts.map((n) => make("option", "", String(n), { value: n })));
  part("samples").value = String(counts.includes(server.n) ? server.n : counts.at(-1));
  part("early-label").hidden = !(server.method && server.method.rule);
  if (server.method && server.method.colour) document.documentElement.style.setProperty("--own", server.method.colour);
  part("question").focus();
}

/** Ask for the key. */
function locked(told) {
  setKey("");
  part("desk").hidden = part("forget").hidden = true;
  part("key-form").hidden = false;
  part("key-error").textContent = told;
  part("key-error").hidden = !told;
  part("key").value = "";
  part("key").focus();
}

function submit() {
  const prompt = part("question").value;
  if (under || !prompt.trim()) return part("question").focus();
  ask(prompt, Number(part("samples").value), part("early").checked);
}

theme();
part("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const given = part("key").value.trim();
  if (!/^[\x21-\x7e]+$/.test(given)) return locked("A key has printable characters without blanks.");
  setKey(given);
  opened();
});
part("ask-form").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
part("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
});
part("stop").addEventListener("click", () => { if (under) under.abort(); part("question").focus(); });
part("forget").addEventListener("click", () => locked(""));
part("examples").append(...EXAMPLES.map((text) => {
  const button = make("button", "small", text, { type: "button" });
  button.addEventListener("click", () => { part("question").value = text; part("question").focus(); });
  return button;
}));
opened();
