import { type DerElement, DerError, readElement, readElements, readIdentifier } from "./der-read.ts";
import { pemBlocks } from "./pem.ts";

const REQUEST = "CERTIFICATE REQUEST";
const ORGANIZATION = "2.5.4.10";
const BMP_STRING = 0x1e;

/** The organizations that the subject of a certificate request in PEM names. Undefined: this is no such request. */
export function readRequestedOrganizations(pem: string): string[] | undefined {
  const block = pemBlocks(pem).next().value;
  if (block?.type !== REQUEST) return undefined;
  try {
    const [info] = readElements(readElement(block.bytes).content);
    const [, subject] = info ? readElements(info.content) : [];
    if (!subject) return undefined;
    return readElements(subject.content).flatMap((set) => readElements(set.content).flatMap(organizationIn));
  } catch (error) {
    if (error instanceof DerError) return undefined;
    throw error;
  }
}

function organizationIn(attribute: DerElement): string[] {
  const [type, value] = readElements(attribute.content);
  if (!type || !value || readIdentifier(type) !== ORGANIZATION) return [];
  if (value.tag !== BMP_STRING) return [value.content.toString("utf8")];
  return [new TextDecoder("utf-16be").decode(value.content)];
}
