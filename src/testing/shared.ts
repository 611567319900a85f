import { generateKeyPairSync, randomBytes } from "node:crypto";
import { type SigningKey, signingKey } from "../auth/service-accounts/keys.ts";
import { makeCertificates } from "../http/certificates.ts";
import { printKubeconfig } from "../http/kubeconfig.ts";
import { ADMINISTRATOR, type Identity } from "../server/identity.ts";

/** What all control planes of a process have in common: making it takes longer than making a control plane. */
export interface Shared {
  readonly identity: Identity;
  readonly accountKey: SigningKey;
}

let made: Shared | undefined;

/**
 * By what the control planes of this process are known, made once. The certificate is of real time, in which clients judge it;
 * clients are known by tokens, which are good at whatever time it is here.
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
      tokens: [],
      admin: { token, user: ADMINISTRATOR },
      kubeconfig: (url) => printKubeconfig({ server: url, authority: authority.certificate, user: { token } }),
      saveKubeconfig: async () => undefined,
    },
  };
}
