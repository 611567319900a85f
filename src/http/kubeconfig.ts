import type { JsonObject } from "../api/object.ts";
import { printYaml } from "../encoding/yaml/yaml-print.ts";
import type { Identity } from "./x509.ts";

/** How a client reaches a server and proves who it is. */
export interface ClientAccess {
  /** Base URL, e.g. "https://127.0.0.1:6443". */
  readonly server: string;
  /** Certificate of the authority that signed the server's, in PEM. Absent for a server without TLS. */
  readonly authority?: string;
  readonly user: { readonly token: string } | { readonly identity: Identity } | undefined;
}

const NAME = "binnacle";

/** A kubeconfig with one cluster, one user and one context, which is the current one. */
export interface Kubeconfig extends JsonObject {
  apiVersion: "v1";
  kind: "Config";
  clusters: { name: string; cluster: { server: string; "certificate-authority-data"?: string } }[];
  users: { name: string; user: JsonObject }[];
  contexts: { name: string; context: { cluster: string; user: string } }[];
  "current-context": string;
}

/** How a client reaches a server, as kubectl and other clients read it. */
export function kubeconfigOf({ server, authority, user }: ClientAccess): Kubeconfig {
  const pack = (text: string): string => Buffer.from(text).toString("base64");
  const credentials: JsonObject =
    user === undefined
      ? {}
      : "token" in user
        ? { token: user.token }
        : { "client-certificate-data": pack(user.identity.certificate), "client-key-data": pack(user.identity.key) };
  return {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: NAME, cluster: { server, ...(authority ? { "certificate-authority-data": pack(authority) } : {}) } },
    ],
    users: [{ name: NAME, user: credentials }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
    "current-context": NAME,
  };
}

/** The text of a kubeconfig file. */
export function printKubeconfig(access: ClientAccess): string {
  return printYaml(kubeconfigOf(access));
}
