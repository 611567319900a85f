import { pemBlocks } from "../../../../base/pki/pem.ts";
import { readCertificate } from "../../../../base/pki/x509-read.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { periodic } from "../../shared/periodic.ts";
import { hasCondition, isIssued, type SigningRequest } from "./signing-request.ts";

const NAME = "certificatesigningrequest-cleaner-controller";
const HOUR_MS = 3_600_000;
/** For how long approved, denied and failed requests are kept. */
const DECIDED_MS = HOUR_MS;
/** For how long requests are kept that nobody has approved, or signed. */
const PENDING_MS = 24 * HOUR_MS;

/** certificatesigningrequest-cleaner-controller: deletes old CertificateSigningRequests, once an hour. */
export function requestCleaner({ resources, client, informers, report }: ManagerContext): Controller {
  const { clock } = resources;
  const { informer: requests } = informers.of<SigningRequest>("certificates.k8s.io", "certificatesigningrequests");
  return periodic({
    name: NAME,
    everyMs: HOUR_MS,
    clock,
    report,
    informers: [requests],
    async sweep() {
      const old = [...requests.all()].filter((request) => isOld(request, clock.now()));
      for (const { metadata } of old) {
        const key = { namespace: "", name: metadata.name ?? "" };
        // Others may be deleted although one of them fails.
        await client
          .delete(requests.resource, key)
          .catch(unlessCode(404))
          .catch((error: unknown) => report(NAME, error));
      }
    },
  });
}

/** Whether a request has been kept for long enough. */
export function isOld(request: SigningRequest, nowMs: number): boolean {
  const { metadata, status: { conditions = [], certificate = "" } = {} } = request;
  const isOlder = (time: string | undefined, limitMs: number) =>
    time !== undefined && nowMs - Date.parse(time) > limitMs;
  const wasUpdated = (type: string, limitMs: number) =>
    conditions.some((one) => one.type === type && isOlder(one.lastUpdateTime, limitMs));
  if (conditions.length === 0) return isOlder(metadata.creationTimestamp, PENDING_MS);
  if (wasUpdated("Denied", DECIDED_MS) || wasUpdated("Failed", DECIDED_MS)) return true;
  if (!isIssued(request)) return wasUpdated("Approved", PENDING_MS);
  return wasUpdated("Approved", DECIDED_MS) || (hasCondition(request, "Approved") && hasExpired(certificate, nowMs));
}

function hasExpired(certificate: string, nowMs: number): boolean {
  const block = pemBlocks(Buffer.from(certificate, "base64").toString("latin1")).next().value;
  const facts = block && readCertificate(block.bytes);
  return facts !== undefined && nowMs > facts.notAfter;
}
