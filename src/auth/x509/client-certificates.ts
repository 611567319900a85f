import { createHash } from "node:crypto";
import type { Clock } from "../../lib/clock.ts";
import { withAuthenticatedGroup } from "../authenticated-group.ts";
import type { Authenticated, Authenticator, Credentials } from "../authenticator.ts";
import { type Certificate, CertificateError } from "./certificate.ts";
import { ChainVerifier, type TrustedAuthorities } from "./chain-verifier.ts";

const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";
const UID = "1.3.6.1.4.1.57683.2";

/** Under which key of `extra` a user's credential is told apart from others of the same user. */
export const CREDENTIAL_ID = "authentication.kubernetes.io/credential-id";

/** Authenticates by client certificates that `--client-ca-file` vouches for: the common name and the organizations. */
export class ClientCertificates implements Authenticator {
  readonly #verifier: ChainVerifier<Authenticated | undefined>;

  constructor(authorities: TrustedAuthorities, clock: Pick<Clock, "now">) {
    this.#verifier = new ChainVerifier(authorities, clock, ([leaf]) => leaf && userOf(leaf));
  }

  authenticate({ certificateChain }: Credentials): Authenticated | undefined {
    if (certificateChain === undefined || certificateChain.length === 0) return undefined;
    return this.#verifier.verify(certificateChain);
  }
}

/** The last common name of a subject, as Go's `pkix.Name` has it; empty when there is none. */
export function commonNameOf({ attributes }: Certificate): string {
  return attributes.findLast(({ type }) => type === COMMON_NAME)?.value ?? "";
}

/** Compat: `CommonNameUserConversion`. */
function userOf(certificate: Certificate): Authenticated | undefined {
  const name = commonNameOf(certificate);
  if (name === "") return undefined;
  const groups = certificate.attributes.flatMap(({ type, value }) =>
    type === ORGANIZATION && value !== undefined ? [value] : [],
  );
  const uid = uidOf(certificate);
  const fingerprint = createHash("sha256").update(certificate.raw).digest("hex");
  const extra = { [CREDENTIAL_ID]: [`X509SHA256=${fingerprint}`] };
  return withAuthenticatedGroup({ user: { name, ...(uid === undefined ? {} : { uid }), groups, extra } });
}

function uidOf({ attributes }: Certificate): string | undefined {
  const found = attributes.filter(({ type }) => type === UID);
  const [first] = found;
  if (first === undefined) return undefined;
  if (found.some(({ value }) => value === undefined)) throw new CertificateError("unable to parse UID into a string");
  if (found.length > 1) {
    throw new CertificateError(`expected 1 UID, but found multiple: [${found.map(({ value }) => value).join(" ")}]`);
  }
  if (first.value === "") throw new CertificateError("UID cannot be an empty string");
  return first.value;
}
