import { ProtobufReader, ProtobufWriter } from "./protobuf.ts";

/** Result of a write on the condition that its key has a certain version. */
export interface VersionedPut {
  readonly succeeded: boolean;
  /** The store's revision after the attempt. */
  readonly revision: number;
  /**
   * How often the key has been written since it was created; 0 if it does not exist. Only set if the condition failed.
   */
  readonly version: number;
  /** The current value. Only set if the condition failed. */
  readonly value: Uint8Array;
}

const shared = new ProtobufWriter();
const NO_BYTES = new Uint8Array(0);

/** Encodes a transaction that writes a key if it has this version, and reads it otherwise. */
export function encodeVersionedPut(key: string, value: Uint8Array, version: number): Uint8Array {
  return shared.encode((writer) => {
    writer.message(3, () => writer.message(1, () => writer.bytes(1, key)));
    writer.message(2, () =>
      writer.message(2, () => {
        writer.bytes(2, value);
        writer.bytes(1, key);
      }),
    );
    writer.message(1, () => {
      // The operand is a oneof: zero must be present, or etcd would compare with "nothing". Target 0 is the version.
      if (version === 0) writer.zero(4);
      else writer.integer(4, version);
      writer.bytes(3, key);
    });
  });
}

/** Decodes the response to `encodeVersionedPut`. */
export function decodeVersionedPut(bytes: Uint8Array): VersionedPut {
  const reader = new ProtobufReader(bytes);
  let succeeded = false;
  let revision = 0;
  let found = { version: 0, value: NO_BYTES };
  while (reader.next()) {
    if (reader.field === 1) revision = reader.message(readRevision);
    else if (reader.field === 2) succeeded = reader.boolean();
    else if (reader.field === 3) found = reader.message(readResult) ?? found;
  }
  return { succeeded, revision, ...found };
}

function readRevision(reader: ProtobufReader): number {
  let revision = 0;
  while (reader.next()) if (reader.field === 3) revision = reader.integer();
  return revision;
}

type Found = { version: number; value: Uint8Array<ArrayBuffer> } | undefined;

function readResult(reader: ProtobufReader): Found {
  let found: Found;
  while (reader.next()) if (reader.field === 1) found = reader.message(readRange);
  return found;
}

function readRange(reader: ProtobufReader): Found {
  let found: Found;
  while (reader.next()) if (reader.field === 2) found = reader.message(readEntry);
  return found;
}

function readEntry(reader: ProtobufReader): Found {
  let version = 0;
  let value = NO_BYTES;
  while (reader.next()) {
    if (reader.field === 4) version = reader.integer();
    else if (reader.field === 5) value = new Uint8Array(reader.bytes());
  }
  return { version, value };
}
