import { type DerElement, DerError, readElement, readElements, readIdentifier } from "./der-read.ts";
import { pemBlocks } from "./pem.ts";

const REQUEST = "CERTIFICATE REQUEST";
const ORGANIZATION = "2.5.4.10";
const COMMON_NAME = "2.5.4.3";
const BMP_STRING = 0x1e;

/** The bytes are not a certificate request. The message is that of kube-apiserver, if it has one. */
export class CertificateRequestError extends Error {}

/** The organizations in the subject of a PEM certificate request. Undefined if it is malformed. */
export function readRequestedOrganizations(pem: string): string[] | undefined {
  try {
    return subjectValues(pem, ORGANIZATION);
  } catch (error) {
    if (error instanceof CertificateRequestError) return undefined;
    throw error;
  }
}

/** The last common name in the subject of a PEM certificate request, or "". Throws CertificateRequestError. */
export function readRequestedCommonName(pem: string): string {
  return subjectValues(pem, COMMON_NAME).at(-1) ?? "";
}

function subjectValues(pem: string, wanted: string): string[] {
  const block = pemBlocks(pem).next().value;
  if (block?.type !== REQUEST) throw new CertificateRequestError("PEM block type must be CERTIFICATE REQUEST");
  try {
    const [info] = readElements(readElement(block.bytes).content);
    const [, subject] = info ? readElements(info.content) : [];
    if (!subject) throw new CertificateRequestError("asn1: syntax error: sequence truncated");
    return readElements(subject.content).flatMap((set) =>
      readElements(set.content).flatMap((attribute) => valueIn(attribute, wanted)),
    );
  } catch (error) {
    if (error instanceof DerError) throw new CertificateRequestError(error.message);
    throw error;
  }
}

function valueIn(attribute: DerElement, wanted: string): string[] {
  const [type, value] = readElements(attribute.content);
  if (!type || !value || readIdentifier(type) !== wanted) return [];
  if (value.tag !== BMP_STRING) return [value.content.toString("utf8")];
  return [new TextDecoder("utf-16be").decode(value.content)];
}
