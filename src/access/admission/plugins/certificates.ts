import { isDeepStrictEqual } from "node:util";
import { type Authorizer, resourceAttributes } from "../../../base/api/attributes.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { quote } from "../../../base/go/quote.ts";
import { readRequestedOrganizations } from "../../../base/pki/certificate-request.ts";
import { refusal, targets } from "../matches.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../plugin.ts";

const GROUP = "certificates.k8s.io";
const REQUESTS = "certificatesigningrequests";
const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";
const MASTERS = "system:masters";

/** CertificateApproval: `/approval` needs the verb approve on the signer. */
export function certificateApproval(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: "CertificateApproval",
    handles: (request) => request.operation === "UPDATE" && targets(request, GROUP, REQUESTS, "approval"),
    async validate(request) {
      // The stored signer counts: the signer cannot be changed.
      const signer = signerOf(request.previous);
      if (await mayUseSigner(authorizer, request, "approve", signer)) return;
      throw refusal(request, `user not permitted to approve requests with signerName ${quote(signer)}`);
    },
  };
}

/** CertificateSigning: `/status` with a certificate or the condition Failed needs the verb sign on the signer. */
export function certificateSigning(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: "CertificateSigning",
    handles: (request) => request.operation === "UPDATE" && targets(request, GROUP, REQUESTS, "status"),
    async validate(request) {
      if (isDeepStrictEqual(outcomeOf(request.object), outcomeOf(request.previous))) return;
      const signer = signerOf(request.previous);
      if (await mayUseSigner(authorizer, request, "sign", signer)) return;
      throw refusal(request, `user not permitted to sign requests with signerName ${quote(signer)}`);
    },
  };
}

/** ClusterTrustBundleAttest: a ClusterTrustBundle of a signer needs the verb attest on it. */
export function clusterTrustBundleAttest(authorizer: Authorizer): AdmissionPlugin {
  return {
    name: "ClusterTrustBundleAttest",
    handles: (request) =>
      (request.operation === "CREATE" || request.operation === "UPDATE") &&
      targets(request, GROUP, "clustertrustbundles"),
    async validate(request) {
      const { object, previous } = request;
      const signer = signerOf(object);
      if (!object || signer === "" || (previous && differOnlyInOwnership(object, previous))) return;
      if (await mayUseSigner(authorizer, request, "attest", signer)) return;
      throw refusal(request, `user not permitted to attest for signerName ${quote(signer)}`);
    },
  };
}

/**
 * CertificateSubjectRestriction: rejects a CertificateSigningRequest for kube-apiserver-client with the group
 * system:masters.
 */
export const certificateSubjectRestriction: AdmissionPlugin = {
  name: "CertificateSubjectRestriction",
  handles: (request) => request.operation === "CREATE" && targets(request, GROUP, REQUESTS),
  async validate(request) {
    const { object } = request;
    if (!object || !isObject(object.spec) || signerOf(object) !== CLIENT_SIGNER) return;
    const bytes = Buffer.from(String(object.spec.request ?? ""), "base64");
    const organizations = readRequestedOrganizations(bytes.toString("latin1"));
    if (!organizations) throw refusal(request, "failed to parse CSR: PEM block type must be CERTIFICATE REQUEST");
    if (!organizations.includes(MASTERS)) return;
    throw refusal(request, `use of ${CLIENT_SIGNER} signer with ${MASTERS} group is not allowed`);
  },
};

/** Whether the caller may use this verb on the signer, or on all signers of its domain. */
async function mayUseSigner(
  authorizer: Authorizer,
  { user, resource }: AdmissionRequest,
  verb: string,
  signer: string,
): Promise<boolean> {
  const { group: apiGroup } = resource.definition;
  const domain = signer.split("/")[0];
  for (const name of [signer, `${domain}/*`]) {
    const wanted = resourceAttributes(user, { verb, apiGroup, resource: "signers", name });
    if ((await authorizer.authorize(wanted)).decision === "allow") return true;
  }
  return false;
}

function signerOf(object: KubeObject | undefined): string {
  return isObject(object?.spec) && typeof object.spec.signerName === "string" ? object.spec.signerName : "";
}

function outcomeOf(object: KubeObject | undefined) {
  const status = isObject(object?.status) ? object.status : {};
  return { certificate: status.certificate ?? "", conditions: status.conditions ?? [] };
}

/** Whether an update only changes owner references, finalizers or managed fields, like controllers do. */
function differOnlyInOwnership(next: KubeObject, previous: KubeObject): boolean {
  const { ownerReferences, finalizers, managedFields } = previous.metadata;
  const metadata = { ...next.metadata, ownerReferences, finalizers, managedFields };
  return isDeepStrictEqual(
    withoutUndefined({ ...next, metadata: withoutUndefined(metadata) }),
    withoutUndefined({ ...previous, metadata: withoutUndefined(previous.metadata) }),
  );
}

function withoutUndefined(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
