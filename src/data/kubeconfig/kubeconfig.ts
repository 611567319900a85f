import type { JsonObject } from "../../base/api/object.ts";
import type { Identity } from "../../base/pki/make-certificate.ts";
import { printYaml } from "../encoding/yaml/yaml-print.ts";

/** How a client reaches a server and authenticates. */
export interface ClientAccess {
  /** Base URL, e.g. "https://127.0.0.1:6443". */
  readonly server: string;
  /** The server's CA certificate in PEM. Omitted for a server without TLS. */
  readonly authority?: string;
  readonly user: { readonly token: string } | { readonly identity: Identity } | undefined;
}

const NAME = "binnacle";

/** A kubeconfig with one cluster, one user and one context, which is current. */
export interface Kubeconfig extends JsonObject {
  apiVersion: "v1";
  kind: "Config";
  clusters: { name: string; cluster: { server: string; "certificate-authority-data"?: string } }[];
  users: { name: string; user: JsonObject }[];
  contexts: { name: string; context: { cluster: string; user: string } }[];
  "current-context": string;
}

/** The kubeconfig of a client, for kubectl and other clients. */
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
