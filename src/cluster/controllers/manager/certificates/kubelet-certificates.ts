import { ATTRIBUTE, type RequestedCertificate, subjectValues } from "../../../../base/pki/certificate-request.ts";

const SERVING_USAGES = ["digital signature", "key encipherment", "server auth"];
const CLIENT_USAGES = ["client auth", "digital signature", "key encipherment"];

/** Why this is not the request of a kubelet for a serving certificate. Undefined if it is one. */
export function servingProblem(request: RequestedCertificate, usages: readonly string[]): string | undefined {
  const { names } = request;
  if (!isOfNodes(request)) return NOT_OF_NODES;
  if (names.dns.length === 0 && names.ip.length === 0) return "DNS or IP subjectAltName is required";
  if (names.email.length > 0) return "Email subjectAltNames are not allowed";
  if (names.uri.length > 0) return "URI subjectAltNames are not allowed";
  if (!isUsedFor(usages, SERVING_USAGES)) return unlike(SERVING_USAGES);
  return isNamedAfterNode(request) ? undefined : NOT_NAMED_AFTER_NODE;
}

/** Why this is not the request of a kubelet for a client certificate. Undefined if it is one. */
export function clientProblem(request: RequestedCertificate, usages: readonly string[]): string | undefined {
  const { names } = request;
  if (!isOfNodes(request)) return NOT_OF_NODES;
  if (names.dns.length > 0) return "DNS subjectAltNames are not allowed";
  if (names.email.length > 0) return "Email subjectAltNames are not allowed";
  if (names.ip.length > 0) return "IP subjectAltNames are not allowed";
  if (names.uri.length > 0) return "URI subjectAltNames are not allowed";
  if (!isNamedAfterNode(request)) return NOT_NAMED_AFTER_NODE;
  return isUsedFor(usages, CLIENT_USAGES) ? undefined : unlike(CLIENT_USAGES);
}

const NOT_OF_NODES = "subject organization is not system:nodes";
const NOT_NAMED_AFTER_NODE = "subject common name does not begin with system:node:";

/** The last common name of the subject. */
export const commonNameOf = ({ subject }: RequestedCertificate): string =>
  subjectValues(subject, ATTRIBUTE.commonName).at(-1) ?? "";

function isOfNodes({ subject }: RequestedCertificate): boolean {
  const organizations = subjectValues(subject, ATTRIBUTE.organization);
  return organizations.length === 1 && organizations[0] === "system:nodes";
}

const isNamedAfterNode = (request: RequestedCertificate): boolean => commonNameOf(request).startsWith("system:node:");

/** Whether these are exactly the wanted usages. Only RSA keys need "key encipherment". */
function isUsedFor(usages: readonly string[], wanted: readonly string[]): boolean {
  const distinct = new Set(usages);
  const isKnown = usages.every((usage) => wanted.includes(usage));
  return isKnown && wanted.every((usage) => usage === "key encipherment" || distinct.has(usage));
}

const unlike = (wanted: readonly string[]): string => `usages did not match [${wanted.join(" ")}]`;
