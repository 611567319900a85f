import { generateKeyPairSync, randomBytes } from "node:crypto";
import { type SigningKey, signingKey } from "../../access/authentication/service-accounts/keys.ts";
import { makeCertificates } from "../../base/pki/certificates.ts";
import { printKubeconfig } from "../../data/kubeconfig/kubeconfig.ts";
import { ADMINISTRATOR, type Identity } from "../server/identity.ts";

/** Keys shared by all control planes of a process: creating them takes longer than creating a control plane. */
export interface Shared {
  readonly identity: Identity;
  readonly accountKey: SigningKey;
}

let made: Shared | undefined;

/**
 * The serving certificate and keys of the control planes of this process, created once. The certificate is valid in
 * real time, which clients check it against. Clients authenticate with tokens, which do not depend on the control
 * plane's clock.
 */
export function shared(): Shared {
  made ??= make();
  return made;
}

function make(): Shared {
  const { authority, serving } = makeCertificates({ bindAddress: "127.0.0.1", serviceRange: "10.0.0.0/24" });
  const token = randomBytes(24).toString("base64url");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    accountKey: signingKey(privateKey),
    identity: {
      tls: serving,
      refreshServing: async () => serving,
      authority: authority.certificate,
      ownAuthority: undefined,
      signingAuthority: authority,
      tokens: [],
      admin: { token, user: ADMINISTRATOR },
      kubeconfig: (url) => printKubeconfig({ server: url, authority: authority.certificate, user: { token } }),
      saveKubeconfig: async () => undefined,
    },
  };
}
