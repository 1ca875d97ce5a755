// Comfort on top of a page that is complete without it: another theme, tables that sort and filter.
"use strict";
(() => {
  const root = document.documentElement;
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark"
                                          : matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = make("button", {id: "theme", type: "button"});
  const nameTheme = () => { theme.textContent = isDark() ? "light theme" : "dark theme"; };
  theme.onclick = () => { root.dataset.theme = isDark() ? "light" : "dark"; nameTheme(); };
  nameTheme();
  document.querySelector("nav").append(theme);

  for (const table of document.querySelectorAll("table.sortable")) {
    const bodies = [...table.tBodies];

    // Numbers from large to small first, texts in their order; then the other way round.
    const key = (body, column) => {
      const cell = body.rows[0].cells[column];
      return "v" in cell.dataset ? Number(cell.dataset.v) : cell.textContent;
    };
    const sort = (head, column) => {
      const isNumber = typeof key(bodies[0], column) === "number";
      const last = head.getAttribute("aria-sort");
      const down = last ? last === "ascending" : isNumber;
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sign = down ? -1 : 1;
      bodies.sort((a, b) => {
        const x = key(a, column), y = key(b, column);
        return sign * (isNumber ? x - y : x.localeCompare(y));
      });
      table.append(...bodies);
    };
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = make("button", {type: "button", textContent: head.textContent});
      button.onclick = () => sort(head, column);
      head.replaceChildren(button);
    });

    const count = make("span", {className: "small"});
    count.setAttribute("role", "status");
    const filter = make("input", {type: "search", placeholder: "filter: words that a row has"});
    filter.setAttribute("aria-label", "filter the rows");
    filter.oninput = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const body of bodies) {
        const text = body.textContent.toLowerCase();
        body.hidden = !words.every(word => text.includes(word));
        shown += !body.hidden;
      }
      count.textContent = words.length ? `${shown} of ${bodies.length} rows` : "";
    };
    const tools = make("div", {className: "tools"});
    tools.append(filter, count);
    table.parentElement.before(tools);
  }
})();
