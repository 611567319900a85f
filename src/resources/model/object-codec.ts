import { isObject, type KubeObject } from "../../api/object.ts";
import { parseJson } from "../../encoding/json/json.ts";
import { decodeObject, isProtobuf, type SchemaOf } from "../../encoding/protobuf/envelope.ts";
import type { Entry } from "../../storage/store.ts";
import type { Draft } from "./draft.ts";

/** What is needed to read values in Kubernetes' protobuf. Custom kinds are never stored in it. */
export interface StoredProtobuf {
  /** The shapes of built-in kinds, and of records that are no kinds. */
  readonly schemaOf: SchemaOf;
  /** Compat: kube-apiserver runs `SetObjectDefaults_*` of the stored version whenever it decodes a stored value. */
  setDefaults(object: KubeObject): void;
}

/**
 * The one door between entries of the store and objects. Reads what kube-apiserver and its forerunners stored: JSON, and
 * Kubernetes' protobuf, in whatever version the value names. Writes JSON, which kube-apiserver tells from protobuf by
 * how a value begins. What transforms values on their way (`EncryptionConfiguration`) belongs in here and nowhere else.
 */
export class ObjectCodec {
  readonly #protobuf: StoredProtobuf | undefined;

  /** Without `protobuf` only JSON can be read. */
  constructor(protobuf?: StoredProtobuf) {
    this.#protobuf = protobuf;
  }

  /** The object of an entry, in the version that it is stored in. Throws DecodeError. The caller owns the result. */
  read({ value, modRevision }: Entry, revision: number = modRevision): KubeObject {
    const object = isProtobuf(value) ? this.#readProtobuf(value) : (parseJson(value) as KubeObject);
    object.metadata.resourceVersion = String(revision);
    return object;
  }

  #readProtobuf(value: Uint8Array): KubeObject {
    const object = decodeObject(value, this.#protobuf?.schemaOf ?? (() => undefined)) as KubeObject;
    this.#protobuf?.setDefaults(object);
    return object;
  }

  /**
   * False when the object of an entry has no member of that name, anywhere. Costs much less than to read it; may be true
   * for an object that has none. Names are given in quotes, as JSON has them.
   */
  mayHave({ value }: Entry, quotedName: Buffer): boolean {
    // Protobuf has numbers in the place of names.
    if (value[0] !== BRACE) return true;
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).includes(quotedName);
  }

  /** The bytes to store: kind, apiVersion and metadata first, no resourceVersion inside. */
  write(object: KubeObject): Uint8Array {
    const { kind, apiVersion, metadata, ...rest } = object;
    const { resourceVersion: _, ...storedMetadata } = metadata;
    // Without a prototype V8 looks out for cycles from the start; else it begins anew once it is ten levels deep.
    return Buffer.from(JSON.stringify({ __proto__: null, kind, apiVersion, metadata: storedMetadata, ...rest }));
  }

  /** The bytes to store of a draft, without printing its creator's fieldsV1 again where their JSON is known. */
  writeDraft({ object, creatorFields }: Draft): Uint8Array {
    const { kind, apiVersion, metadata, ...rest } = object;
    const { resourceVersion: _, managedFields = [], ...others } = metadata;
    const [only] = managedFields;
    if (creatorFields?.json === undefined || managedFields.length !== 1 || !isObject(only)) return this.write(object);
    const { fieldsV1, ...entry } = only;
    // Whoever replaced the entry since it was recorded may own something else.
    if (fieldsV1 !== creatorFields.fields) return this.write(object);
    const head = JSON.stringify({ kind, apiVersion, metadata: others });
    const manager = `${JSON.stringify(entry).slice(0, -1)},"fieldsV1":${creatorFields.json}}`;
    const tail = JSON.stringify({ __proto__: null, ...rest });
    // New objects have a uid, and their managers a name, so that a comma is right after both.
    const end = tail === "{}" ? "}" : `,${tail.slice(1)}`;
    return Buffer.from(`${head.slice(0, -2)},"managedFields":[${manager}]}${end}`);
  }
}

const BRACE = 0x7b;
