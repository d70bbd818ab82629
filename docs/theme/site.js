// Name the search dialog, and let keys scroll tables that are wider than a phone.
addEventListener("load", () => {
  document.querySelector(".md-search[role=dialog]")?.setAttribute("aria-label", "Search");
  for (const table of document.querySelectorAll(".md-typeset__table")) table.tabIndex = 0;
});
