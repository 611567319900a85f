import { isObject, type KubeObject } from "../../base/api/object.ts";
import { parseJson } from "../../data/encoding/json/json.ts";
import { decodeObject, isProtobuf, type SchemaOf } from "../../data/encoding/protobuf/envelope.ts";
import type { Entry } from "../../storage/store.ts";
import type { Draft } from "./draft.ts";
import { RecentObjects } from "./recent-objects.ts";

/** Dependencies of reading Kubernetes protobuf. Custom kinds are never stored in it. */
export interface StoredProtobuf {
  /** Schemas of built-in kinds, and of records that are not kinds. */
  readonly schemaOf: SchemaOf;
  /** Compat: kube-apiserver runs `SetObjectDefaults_*` of the stored version whenever it decodes a stored value. */
  setDefaults(object: KubeObject): void;
}

/** The objects decoded last, by their stored bytes and revision. Forked control planes share entries, so it is global. */
const recent = new RecentObjects<Uint8Array, number>();

/**
 * Converts between store entries and objects. Reads values of kube-apiserver and its older releases: JSON and
 * Kubernetes protobuf, in the version that the value names. Writes JSON, which kube-apiserver tells from protobuf by
 * its first bytes. Value transformations (`EncryptionConfiguration`) belong here and nowhere else.
 */
export class ObjectCodec {
  readonly #protobuf: StoredProtobuf | undefined;

  /** Without `protobuf`, only JSON can be read. */
  constructor(protobuf?: StoredProtobuf) {
    this.#protobuf = protobuf;
  }

  /** Decodes the object of an entry, in its stored version. Throws DecodeError. The caller owns the result. */
  read({ value, modRevision }: Entry, revision: number = modRevision): KubeObject {
    const object = isProtobuf(value) ? this.#readProtobuf(value) : (parseJson(value) as KubeObject);
    object.metadata.resourceVersion = String(revision);
    return object;
  }

  /**
   * Decodes like `read`, but shares the result with others who read the value soon, such as controllers and watches.
   * It must not be changed.
   */
  share(entry: Entry): KubeObject {
    const { value, modRevision } = entry;
    return recent.get(value, modRevision, value.length, () => this.read(entry));
  }

  #readProtobuf(value: Uint8Array): KubeObject {
    const object = decodeObject(value, this.#protobuf?.schemaOf ?? (() => undefined)) as KubeObject;
    this.#protobuf?.setDefaults(object);
    return object;
  }

  /**
   * Returns false if the object of an entry has no member of this name at any depth. Much cheaper than decoding; may
   * return true for an object without such a member. The name is given in JSON quotes.
   */
  mayHave({ value }: Entry, quotedName: Buffer): boolean {
    // Protobuf contains field numbers instead of names.
    if (value[0] !== BRACE) return true;
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).includes(quotedName);
  }

  /** Encodes an object for the store: kind, apiVersion and metadata first, without resourceVersion. */
  write(object: KubeObject): Uint8Array {
    const { kind, apiVersion, metadata, ...rest } = object;
    const { resourceVersion: _, ...storedMetadata } = metadata;
    // Without a prototype, V8 checks for cycles from the start. Otherwise it restarts at a depth of ten levels.
    return Buffer.from(JSON.stringify({ __proto__: null, kind, apiVersion, metadata: storedMetadata, ...rest }));
  }

  /** Encodes a draft for the store, reusing the JSON of its creator's fieldsV1 if known. */
  writeDraft({ object, creatorFields }: Draft): Uint8Array {
    const { kind, apiVersion, metadata, ...rest } = object;
    const { resourceVersion: _, managedFields = [], ...others } = metadata;
    const [only] = managedFields;
    if (creatorFields?.json === undefined || managedFields.length !== 1 || !isObject(only)) return this.write(object);
    const { fieldsV1, ...entry } = only;
    // The entry may have been replaced since it was recorded.
    if (fieldsV1 !== creatorFields.fields) return this.write(object);
    const head = JSON.stringify({ kind, apiVersion, metadata: others });
    const manager = `${JSON.stringify(entry).slice(0, -1)},"fieldsV1":${creatorFields.json}}`;
    const tail = JSON.stringify({ __proto__: null, ...rest });
    // New objects have a uid and their managers have a name, so a comma is needed after both.
    const end = tail === "{}" ? "}" : `,${tail.slice(1)}`;
    return Buffer.from(`${head.slice(0, -2)},"managedFields":[${manager}]}${end}`);
  }
}

const BRACE = 0x7b;
