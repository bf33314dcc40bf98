/* What htmx leaves to the page: to say that something changed, and that nothing came back. */
(() => {
  const say = (text) => {
    const status = document.getElementById("said");
    if (status) status.textContent = text;
  };

  document.addEventListener("htmx:after:swap", () => {
    document.getElementById("unreachable")?.remove();
    // What had the focus may be gone: reading goes on at the content rather than at the top of the window.
    if (document.activeElement === document.body) {
      document.getElementById("main")?.focus({ preventScroll: true });
    }
    say("");
    setTimeout(() => say("The page has changed."), 100);
  });

  document.addEventListener("htmx:error", () => {
    if (document.getElementById("unreachable")) return;
    const fault = document.createElement("p");
    fault.id = "unreachable";
    fault.className = "notice bad";
    fault.setAttribute("role", "alert");
    fault.textContent = "The server did not answer. Load the page again to see what it holds now.";
    document.getElementById("main")?.prepend(fault);
  });
})();
