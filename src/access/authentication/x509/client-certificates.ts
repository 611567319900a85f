import { createHash } from "node:crypto";
import type { Clock } from "../../../base/util/clock.ts";
import { withAuthenticatedGroup } from "../authenticated-group.ts";
import type { Authenticated, Authenticator, Credentials } from "../authenticator.ts";
import { type Certificate, CertificateError } from "./certificate.ts";
import { ChainVerifier, type TrustedCAs } from "./chain-verifier.ts";

const COMMON_NAME = "2.5.4.3";
const ORGANIZATION = "2.5.4.10";
const UID = "1.3.6.1.4.1.57683.2";

/** Key in `extra` of the id of the credential, which distinguishes several credentials of one user. */
export const CREDENTIAL_ID = "authentication.kubernetes.io/credential-id";

/**
 * Authenticates by client certificates signed by `--client-ca-file`. The common name is the user, the organizations are
 * the groups.
 */
export class ClientCertificates implements Authenticator {
  readonly #verifier: ChainVerifier<Authenticated | undefined>;

  constructor(roots: TrustedCAs, clock: Pick<Clock, "now">) {
    this.#verifier = new ChainVerifier(roots, clock, ([leaf]) => leaf && userOf(leaf));
  }

  authenticate({ certificateChain }: Credentials): Authenticated | undefined {
    if (certificateChain === undefined || certificateChain.length === 0) return undefined;
    return this.#verifier.verify(certificateChain);
  }
}

/** The last common name of the subject, like in Go's `pkix.Name`. Empty if there is none. */
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
