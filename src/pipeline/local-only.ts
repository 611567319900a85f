import { forbidden } from "../api/api-error.ts";
import type { ApiRequest, Stage } from "../api/call.ts";
import type { UserInfo } from "../api/user-info.ts";
import { parseAddress } from "../lib/ip-address.ts";

/**
 * Takes everybody for the same user, whatever credentials they show: the port without TLS. It listens on loopback only,
 * but a web browser on this machine reaches it too, so that what a web page sends is refused with 403.
 */
export function assumeUser(user: UserInfo): Stage {
  return (next) => (call) => {
    const reason = foreignReason(call.request);
    if (reason !== undefined) throw forbidden({ group: "", resource: "" }, "", reason);
    call.user = user;
    return next(call);
  };
}

/** Why a request may have been sent by a web page of somebody else; undefined when no browser would send it for one. */
function foreignReason({ authority, headers }: ApiRequest): string | undefined {
  // A name of the attacker's that leads to this machine (DNS rebinding) makes his page one origin with this server.
  if (!isLoopback(authority)) return "the port without credentials is reached by the name or address of loopback only";
  const { origin } = headers;
  if (origin !== undefined && origin !== `http://${authority}`) {
    return "the port without credentials is not for web pages of another origin";
  }
  const site = headers["sec-fetch-site"];
  // "none": the user typed the address or opened a bookmark.
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    return "the port without credentials is not for requests of another site";
  }
  return undefined;
}

/** Whether the `Host` of a request, with or without a port, can mean nothing but the machine that the client runs on. */
function isLoopback(authority: string): boolean {
  const [, name = ""] = /^(\[[^\]]*\]|[^:]*)(?::\d{1,5})?$/.exec(authority) ?? [];
  if (/^localhost$/i.test(name) || name === "[::1]") return true;
  return parseAddress(name)?.[0] === 127 && !name.startsWith("[");
}
