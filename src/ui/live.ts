/**
 * Attributes of a form that lists anew while somebody types, by the same request that it sends without script.
 *
 * @param list the selector of what is replaced, which every answer of the form's address holds
 */
export function liveFilter(action: string, list: string) {
  return {
    "hx-get": action,
    "hx-trigger": "input delay:250ms, change, submit",
    "hx-target": list,
    "hx-select": list,
    "hx-swap": "outerHTML",
    "hx-replace-url": "true",
    // Typing on makes the answer that is still awaited worthless.
    "hx-sync": "this:replace",
  };
}

/**
 * Attributes of a form that changes something without leaving the page. Where its answer leads is shown in place of the content.
 */
export function inPlace(action: string) {
  return {
    "hx-post": action,
    "hx-target": "#main",
    "hx-select": "#main",
    "hx-swap": "outerHTML",
  };
}

/** Whether htmx asks, rather than the browser itself. */
export function isLive(headers: Readonly<Record<string, unknown>>): boolean {
  return headers["hx-request"] === "true";
}
