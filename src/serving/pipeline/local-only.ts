import { forbidden } from "../../base/api/api-error.ts";
import type { ApiRequest, Stage } from "../../base/api/call.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import { isLoopbackHost } from "../../base/net/ip-address.ts";

/**
 * Sets the same user for every request, regardless of credentials: for the insecure port (no TLS). The port listens on
 * loopback only, but browsers on this machine reach it too. Requests sent by web pages are therefore rejected with 403.
 */
export function assumeUser(user: UserInfo): Stage {
  return (next) => (call) => {
    const reason = foreignReason(call.request);
    if (reason !== undefined) throw forbidden({ group: "", resource: "" }, "", reason);
    call.user = user;
    return next(call);
  };
}

/** Why a request may come from a foreign web page. Undefined if no browser would send it on behalf of one. */
function foreignReason({ authority, headers }: ApiRequest): string | undefined {
  // DNS rebinding: an attacker's host name that resolves to this machine makes the attacker's page same-origin.
  if (!isLoopback(authority)) return "the insecure port only accepts a loopback name or address as Host";
  const { origin } = headers;
  if (origin !== undefined && origin !== `http://${authority}`) {
    return "the insecure port does not accept cross-origin requests";
  }
  const site = headers["sec-fetch-site"];
  // "none": the user typed the address or opened a bookmark.
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    return "the insecure port does not accept cross-site requests";
  }
  return undefined;
}

/** Whether the Host header, with or without a port, names the loopback interface. */
function isLoopback(authority: string): boolean {
  const [, host = ""] = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(authority) ?? [];
  return isLoopbackHost(host);
}
