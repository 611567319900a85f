import type { KubeObject } from "../../../../base/api/object.ts";
import type { RequestedCertificate } from "../../../../base/pki/certificate-request.ts";
import { storedResource } from "../../../../resources/model/stored-resource.ts";
import type { Controller } from "../../shared/controller.ts";
import { NotYet } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { clientProblem, commonNameOf } from "./kubelet-certificates.ts";
import {
  hasCondition,
  KUBELET_CLIENT_SIGNER,
  requestController,
  requestedCertificate,
  type SigningRequest,
} from "./signing-request.ts";

const GROUP = "certificates.k8s.io";

/** A kind of request that is approved if its creator may create this subresource. */
interface Recognizer {
  readonly subresource: string;
  readonly message: string;
  recognizes(request: SigningRequest, certificate: RequestedCertificate): boolean;
}

const isOfKubelet = ({ spec }: SigningRequest, certificate: RequestedCertificate): boolean =>
  spec.signerName === KUBELET_CLIENT_SIGNER && clientProblem(certificate, spec.usages ?? []) === undefined;

const RECOGNIZERS: readonly Recognizer[] = [
  {
    subresource: "selfnodeclient",
    message: "Auto approving self kubelet client certificate after SubjectAccessReview.",
    recognizes: (request, certificate) =>
      request.spec.username === commonNameOf(certificate) && isOfKubelet(request, certificate),
  },
  {
    subresource: "nodeclient",
    message: "Auto approving kubelet client certificate after SubjectAccessReview.",
    recognizes: isOfKubelet,
  },
];

/**
 * certificatesigningrequest-approving-controller: approves the requests of kubelets for client certificates if RBAC allows
 * their creator to create `certificatesigningrequests/nodeclient`, or `selfnodeclient` for the own node.
 */
export function requestApproving(context: ManagerContext): Controller {
  const { resources, client } = context;
  const requests = storedResource(resources.catalog, GROUP, "certificatesigningrequests");
  const reviews = storedResource(resources.catalog, "authorization.k8s.io", "subjectaccessreviews");

  const mayCreate = async ({ spec }: SigningRequest, subresource: string): Promise<boolean> => {
    const { username: user = "", uid = "", groups = [], extra = {} } = spec;
    const resourceAttributes = {
      ...{ verb: "create", group: requests.definition.group, version: "*" },
      ...{ resource: requests.definition.plural, subresource },
    };
    const review: KubeObject & { status?: { allowed?: boolean } } = await client.create(reviews, {
      kind: reviews.definition.kind,
      apiVersion: reviews.apiVersion,
      metadata: {},
      spec: { user, uid, groups: [...groups], extra: { ...extra }, resourceAttributes },
    });
    return review.status?.allowed === true;
  };

  const approve = async (request: SigningRequest, message: string): Promise<void> => {
    const { status = {} } = request;
    const approved = { type: "Approved", status: "True", reason: "AutoApproved", message };
    const conditions = [...(status.conditions ?? []), approved];
    await client.update(requests, { ...request, status: { ...status, conditions } }, { subresource: "approval" });
  };

  return requestController(context, "certificatesigningrequest-approving-controller", async (request) => {
    if (hasCondition(request, "Approved") || hasCondition(request, "Denied")) return;
    const certificate = requestedCertificate(request);
    const recognized = RECOGNIZERS.filter((one) => one.recognizes(request, certificate));
    for (const { subresource, message } of recognized) {
      if (await mayCreate(request, subresource)) return approve(request, message);
    }
    // The role may be bound later.
    if (recognized.length > 0) throw new NotYet();
  });
}
