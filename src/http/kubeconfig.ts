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

/** The text of a kubeconfig file with one cluster, one user and one context, which is the current one. */
export function printKubeconfig({ server, authority, user }: ClientAccess): string {
  const pack = (text: string): string => Buffer.from(text).toString("base64");
  const credentials =
    user === undefined
      ? {}
      : "token" in user
        ? { token: user.token }
        : { "client-certificate-data": pack(user.identity.certificate), "client-key-data": pack(user.identity.key) };
  return printYaml({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: NAME, cluster: { server, ...(authority ? { "certificate-authority-data": pack(authority) } : {}) } },
    ],
    users: [{ name: NAME, user: credentials }],
    contexts: [{ name: NAME, context: { cluster: NAME, user: NAME } }],
    "current-context": NAME,
  });
}
