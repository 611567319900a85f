import type { JsonObject, KubeObject } from "../../api/object.ts";
import type { Texts } from "../../types/meta.ts";
import type { Condition } from "../rules/conditions.ts";

/** What a node asks for in the name of a pod. */
export interface PodCertificateSpec extends JsonObject {
  signerName?: string;
  podName?: string;
  podUID?: string;
  serviceAccountName?: string;
  serviceAccountUID?: string;
  nodeName?: string;
  nodeUID?: string;
  maxExpirationSeconds?: number;
  /** Bytes, in base64. */
  stubPKCS10Request?: string | null;
  /** Bytes, in base64. Not known to v1. */
  pkixPublicKey?: string | null;
  /** Bytes, in base64. Not known to v1. */
  proofOfPossession?: string | null;
  unverifiedUserAnnotations?: Texts;
}

/** What the signer answers. */
export interface PodCertificateStatus extends JsonObject {
  conditions?: Condition[];
  certificateChain?: string;
  notBefore?: string;
  notAfter?: string;
  beginRefreshAt?: string;
}

/** The spec of a request. */
export const specOf = (request: KubeObject): PodCertificateSpec =>
  (request.spec as PodCertificateSpec | undefined) ?? {};

/** The status of a request. */
export const statusOf = (request: KubeObject): PodCertificateStatus =>
  (request.status as PodCertificateStatus | undefined) ?? {};
