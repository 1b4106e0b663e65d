// What the report and the gateway's page share. Texts of others only ever become textContent.

/** Make an element: its class, its content (texts or nodes), its attributes. */
function make(tag, className, content = [], attributes = {}) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...[].concat(content).filter((part) => part !== null && part !== undefined));
  return node;
}

const isolated = (text) => make("bdi", "", text, { dir: "auto" });
const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(2);

// Light and dark: the system's choice, until the reader makes one.
function theme() {
  const button = document.getElementById("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const label = () => { button.textContent = dark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Switch to ${dark() ? "light" : "dark"} colours`); };
  try { root.dataset.theme = localStorage.getItem("steelyard-theme") || ""; } catch { /* storage is off for files */ }
  if (!root.dataset.theme) delete root.dataset.theme;
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("steelyard-theme", root.dataset.theme); } catch { /* then not remembered */ }
    label();
  });
  system.addEventListener("change", label);
  label();
}

// What the bars of answers show.
const WORDS = { probability: "probability", share: "of the weight", weight: "weight" };

/** The cells of a line of the ballot. */
function row(name, drawn, value, unit, count) {
  return [name, drawn, make("span", "num", [make("b", "", value), make("small", "", unit)]), make("span", "num", count)];
}

/** A bar to both sides of a zero line, which stands where the question's largest weights leave it. */
function bar(plus, minus, [least, most], label) {
  const svg = (tag, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  const wide = (value) => (196 * Math.abs(value)) / (most - least);
  const view = `${-wide(least) - 2} 0 200 20`;
  const box = svg("svg", { class: "bar", viewBox: view, preserveAspectRatio: "none", role: "img", "aria-label": label });
  const tip = svg("title", {});
  tip.textContent = label;
  box.append(
    tip,
    svg("rect", { class: "track", x: -wide(least), y: 3, width: 196, height: 14 }),
    svg("rect", { class: "against", x: -wide(minus), y: 3, width: wide(minus), height: 14 }),
    svg("rect", { class: "for", x: 0, y: 3, width: wide(plus), height: 14 }),
    svg("line", { x1: 0, x2: 0, y1: 0, y2: 20 }),
  );
  return box;
}
