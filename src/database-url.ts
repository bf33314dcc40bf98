import { isIPv6 } from "node:net";

const PERCENT_ENCODE =
  "percent-encode special characters of the user name and password (% as %25, # as %23, / as %2F, @ as %40)";
// The driver takes a socket's directory from PGHOST alone.
const SOCKET =
  "for a Unix socket write postgres:///database and set PGHOST to its directory, PGUSER and PGPASSWORD";
const SEARCH_PATH = "write options=-csearch_path%3Dname instead";
const POOL = "take it out: each process opens up to 10 connections and waits for a free one";
const CLIENT_CERTIFICATE = "take it out: client certificates are not supported";

/** Parameters that the driver knows, with the values that it takes; null = any. */
const KNOWN: Readonly<Record<string, readonly string[] | null>> = {
  sslmode: ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"],
  sslnegotiation: ["postgres", "direct"],
  target_session_attrs: ["read-write", "read-only", "primary", "standby", "prefer-standby"],
  options: null,
  application_name: null,
};
/** What other programs' URLs hold and what is so here anyway, or asks for nothing. Sent on, PostgreSQL would refuse it. */
const DROPPED: Readonly<Record<string, RegExp>> = {
  channel_binding: /^(?:prefer|disable)$/,
  connect_timeout: /./,
  gssencmode: /^(?:prefer|disable)$/,
  keepalives: /./,
  pgbouncer: /./,
  sslnegotiation: /^postgres$/,
  target_session_attrs: /^any$/,
};
const REMEDIES: Readonly<Record<string, string>> = {
  channel_binding:
    "take it out: the driver cannot bind to the channel; sslmode=verify-full proves the server instead",
  connection_limit: POOL,
  currentSchema: SEARCH_PATH,
  host: SOCKET,
  max: POOL,
  pool_timeout: POOL,
  schema: SEARCH_PATH,
  search_path: SEARCH_PATH,
  sslcert: CLIENT_CERTIFICATE,
  sslkey: CLIENT_CERTIFICATE,
  sslrootcert: "take it out, set NODE_EXTRA_CA_CERTS to that file and write sslmode=verify-full",
};
const UNKNOWN = "take it out; a setting of PostgreSQL is written options=-cNAME%3DVALUE";

/** What is wrong with it and what to write instead, without any value of it; undefined = nothing. */
export function databaseUrlFault(value: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(value)) return "must start with postgres:// or postgresql://";
  const url = parse(value);
  if (!url) return PERCENT_ENCODE;
  if (/%2f/i.test(url.host)) return SOCKET;
  for (const [name, given] of url.searchParams) {
    // A part of a password with a question mark in it: not to be printed.
    if (!/^[A-Za-z_]+$/.test(name)) return PERCENT_ENCODE;
    if (DROPPED[name]?.test(given)) continue;
    const values = KNOWN[name];
    if (values === undefined) return `the parameter ${name}: ${REMEDIES[name] ?? UNKNOWN}`;
    if (values && !values.includes(given)) {
      return `the parameter ${name}: must be one of ${values.join(", ")}`;
    }
  }
  return undefined;
}

/** The same without the parameters that mean nothing here. */
export function withoutDropped(value: string): string {
  const at = value.indexOf("?");
  if (at < 0) return value;
  // As text: a list of hosts is no URL, and what is kept stays as it was written.
  const kept = value
    .slice(at + 1)
    .split("&")
    .filter((parameter) => {
      const [name = "", given = ""] = parameter.split("=");
      return !DROPPED[name]?.test(given);
    });
  return kept.length === 0 ? value.slice(0, at) : `${value.slice(0, at)}?${kept.join("&")}`;
}

/** True when it asks for a connection that must not be without TLS. */
export function asksForTls(value: string): boolean {
  return /[?&]sslmode=(?:require|verify-)/.test(value);
}

/** Hosts and ports for the driver, which cuts an IPv6 address at its first colon; undefined = it reads them itself. */
export function ipv6Hosts(value: string): { host: string[]; port: number[] } | undefined {
  const [, authority = ""] = /^\w+:\/\/([^/?#]*)/.exec(value) ?? [];
  const hosts = authority
    .slice(authority.lastIndexOf("@") + 1)
    .split(",")
    .map((host) => /^\[?(.*?)\]?(?::(\d+))?$/.exec(host));
  if (!hosts.some((match) => isIPv6(match?.[1] ?? ""))) return undefined;
  return {
    host: hosts.map((match) => match?.[1] ?? ""),
    port: hosts.map((match) => Number(match?.[2] ?? 5432)),
  };
}

function parse(value: string): URL | undefined {
  // The driver takes several hosts where URL takes one.
  const oneHost = value.replace(/^(\w+:\/\/(?:[^/?#]*@)?[^/?#,@]+),[^/?#@]+/, "$1");
  try {
    const url = new URL(oneHost);
    for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part);
    return url.hash || url.pathname.includes("@") ? undefined : url;
  } catch {
    return undefined;
  }
}
