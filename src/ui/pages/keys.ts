import { html } from "htm/preact";
import type { KeyInfo } from "../../access/service.ts";
import type { ListedAccount } from "../../channels/service.ts";
import { address, personAddress } from "../address.ts";
import { Layout } from "../layout.ts";
import { PageHead } from "../parts/page-head.ts";
import { Day, Text } from "../text.ts";
import type { Viewer } from "../viewer.ts";

/** What a form for a new key holds, as it was written. */
export interface DraftKey {
  readonly name: string;
  readonly role: string;
  readonly defaultAgent: string;
  /** Whom somebody looks for. */
  readonly person: string;
  readonly pinUserId?: string | undefined;
  readonly pinStoreId?: string | undefined;
  readonly pinAgentId: string;
}

interface KeysProps {
  readonly viewer: Viewer;
  readonly keys: readonly KeyInfo[];
  /** Names by id. */
  readonly stores: ReadonlyMap<string, string>;
  readonly accounts: readonly ListedAccount[];
  readonly done: string | undefined;
}

/** Who may reach this org's memory: people and agents by keys, chat platforms by accounts. */
export function KeysPage({ viewer, keys, stores, accounts, done }: KeysProps) {
  const active = keys.filter(({ revokedAt }) => revokedAt === null);
  const revoked = keys.filter(({ revokedAt }) => revokedAt !== null);
  const item = (key: KeyInfo) =>
    html`<${Key} info=${key} stores=${stores} own=${viewer.principal.keyId} />`;
  return html`
    <${Layout} title="Keys" viewer=${viewer} here="/keys">
      <${PageHead}
        title="Keys"
        lead="A key says which org it is of and what its holder may do. It is shown once; only a fingerprint of it is kept."
        done=${done}
      >
        <a class="button small" href=${address("/keys/new")}>Make a key</a>
      <//>
      ${
        active.length === 0
          ? html`<p class="empty">There is no key yet. Make one for each agent and each person, so that one can be taken back alone.</p>`
          : html`<ul class="rows">${active.map(item)}</ul>`
      }
      ${
        revoked.length > 0 &&
        html`
          <details>
            <summary>Revoked keys (${revoked.length})</summary>
            <ul class="rows">${revoked.map(item)}</ul>
          </details>
        `
      }
      <${Accounts} accounts=${accounts} />
    <//>
  `;
}

interface KeyProps {
  readonly info: KeyInfo;
  readonly stores: KeysProps["stores"];
  /** The id of the key that looks. */
  readonly own: string;
}

function Key({ info, stores, own }: KeyProps) {
  const { id, name, role, defaultAgent, pins, createdAt, lastUsedAt, revokedAt } = info;
  const { userId, storeId, agentId } = pins;
  return html`
    <li class="row">
      <div class="grow">
        <p>
          <span class="row-name"><${Text} text=${name} /></span> <span class="badge">${role}</span>
          ${id === own && html` <span class="badge good">this one</span>`}
        </p>
        <p class="muted meta">
          <span>agent ${agentId ?? defaultAgent}${agentId !== undefined && " only"}</span>
          ${userId !== undefined && html`<span>only for <a href=${personAddress(userId)}>one person</a></span>`}
          ${storeId !== undefined && html`<span>only in <${Text} text=${stores.get(storeId) ?? storeId} limit=${60} /></span>`}
          <span>made <${Day} at=${new Date(createdAt)} /></span>
          <span>${lastUsedAt === null ? "never used" : html`last used <${Day} at=${new Date(lastUsedAt)} />`}</span>
          ${revokedAt !== null && html`<span>revoked <${Day} at=${new Date(revokedAt)} /></span>`}
          <a href=${address("/audit", { actor: id })}>what it did<span class="hidden">: <${Text} text=${name} /></span></a>
        </p>
      </div>
      ${revokedAt === null && html`<${Revoke} id=${id} name=${name} isOwn=${id === own} />`}
    </li>
  `;
}

interface RevokeProps {
  readonly id: string;
  readonly name: string;
  readonly isOwn: boolean;
}

function Revoke({ id, name, isOwn }: RevokeProps) {
  return html`
    <details class="inline">
      <summary>Revoke<span class="hidden"> <${Text} text=${name} /></span></summary>
      <form class="stack" method="post" action=${address(`/keys/${id}/revoke`)}>
        <p>
          ${isOwn ? "You are signed in with this key and will be signed out. " : ""}Whoever uses it is refused from now on.
          It cannot be taken back.
        </p>
        <button class="danger small">Revoke for good</button>
      </form>
    </details>
  `;
}

function Accounts({ accounts }: Pick<KeysProps, "accounts">) {
  return html`
    <section aria-labelledby="accounts">
      <h2 id="accounts">Channel accounts</h2>
      <p class="hint">Bots and phone numbers that bring messages into this org. They are added on the server’s command line, which holds their secrets.</p>
      ${
        accounts.length === 0
          ? html`<p class="empty">None was added. The account that the server’s own variables define is not listed here.</p>`
          : html`
            <ul class="rows">
              ${accounts.map(
                ({
                  channel,
                  account,
                  secretIsSet,
                  unsetVariables,
                  autoApprove,
                  forwardUrl,
                }) => html`
                  <li class="row">
                    <span class="row-name">${channel}: ${account}</span>
                    ${!secretIsSet && html`<span class="badge bad">receives nothing: its secret is not set</span>`}
                    ${unsetVariables.length > 0 && html`<span class="muted">not set: <code>${unsetVariables.join(", ")}</code></span>`}
                    ${autoApprove && html`<span class="badge">approves people by itself</span>`}
                    ${forwardUrl !== null && html`<span class="muted">forwards to <${Text} text=${forwardUrl} limit=${120} /></span>`}
                  </li>
                `,
              )}
            </ul>
          `
      }
    </section>
  `;
}
