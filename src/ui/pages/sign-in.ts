import { html } from "htm/preact";
import { Layout } from "../layout.ts";

interface SignInProps {
  readonly fault?: string | undefined;
}

export function SignInPage({ fault }: SignInProps) {
  return html`
    <${Layout} title="Sign in">
      <div class="narrow">
        <h1>Sign in</h1>
        <p>See, correct and delete what your agents remember.</p>
        ${fault && html`<p class="notice bad" role="alert">${fault}</p>`}
        <form class="stack" method="post" action="/ui/sign-in">
          <label for="key">API key</label>
          <input
            id="key"
            name="key"
            type="password"
            autocomplete="current-password"
            spellcheck="false"
            maxlength="512"
            required
            autofocus
            aria-describedby="key-help"
          />
          <p id="key-help" class="hint">
            What the key may do is what you may do here. You stay signed in for 12 hours, or until you do nothing here for
            two, and no longer than the key is valid.
          </p>
          <button>Sign in</button>
        </form>
      </div>
    <//>
  `;
}
