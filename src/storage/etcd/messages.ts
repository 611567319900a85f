import type { Entry } from "../store.ts";
import { ProtobufReader, ProtobufWriter } from "./protobuf.ts";

// Field numbers are those of etcd's v3 API. Cluster and member ids are random 64-bit numbers that are not needed here,
// so only the revision is read from response headers.

/** Exact bytes of a key or of the end of a range. A string is encoded as UTF-8. */
export type KeyBytes = string | Uint8Array;

/** A read. If `rangeEnd` is omitted, of one key. `limit` 0 means all, `revision` 0 the newest. */
export interface RangeRequest {
  readonly key: KeyBytes;
  readonly rangeEnd?: KeyBytes;
  readonly limit?: number;
  readonly revision?: number;
  readonly keysOnly?: boolean;
  readonly countOnly?: boolean;
  /** Accept the possibly stale state of any member. */
  readonly serializable?: boolean;
}

/** `count` is the number of keys in the whole range, regardless of the limit. */
export interface RangeResponse {
  readonly revision: number;
  readonly entries: Entry[];
  readonly more: boolean;
  readonly count: number;
}

/** One operation inside a transaction. A lease of 0 means none. */
export type Operation =
  | { readonly type: "range"; readonly request: RangeRequest }
  | { readonly type: "put"; readonly key: KeyBytes; readonly value: Uint8Array; readonly lease?: bigint }
  | { readonly type: "delete"; readonly key: KeyBytes; readonly rangeEnd?: KeyBytes };

/** Compares one key's mod revision with `modRevision`; 0 means that the key does not exist. */
export interface TxnRequest {
  readonly compare: { readonly key: KeyBytes; readonly modRevision: number };
  readonly success: Operation;
  readonly failure?: Operation;
}

/** `entries`: result of a range in the executed branch. `deleted`: number of keys a delete removed. */
export interface TxnResponse {
  readonly revision: number;
  readonly succeeded: boolean;
  readonly entries: readonly Entry[];
  readonly deleted: number;
}

/** Starts one watch; `startRevision` is the first revision to report. */
export interface WatchCreateRequest {
  readonly key: KeyBytes;
  readonly rangeEnd?: KeyBytes;
  readonly startRevision: number;
  /** Whether events have the previous value. */
  readonly withPrevious: boolean;
}

/** One change as etcd reports it; `entry.value` is empty for a delete. */
export interface WatchEvent {
  readonly isDelete: boolean;
  readonly entry: Entry;
  readonly previous: Entry | undefined;
}

/** One message of a watch stream. `watchId` is -1 in the response to a progress request. */
export interface WatchResponse {
  readonly revision: number;
  readonly watchId: number;
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: number;
  readonly cancelReason: string;
  /** More messages of the same response follow. */
  readonly fragment: boolean;
  readonly events: WatchEvent[];
}

/** A granted lease. Its id is an arbitrary 63-bit number. */
export interface LeaseResponse {
  readonly id: bigint;
  readonly ttlSeconds: number;
  readonly error: string;
}

/** Status of one member. */
export interface StatusResponse {
  readonly version: string;
  readonly dbSizeBytes: number;
  readonly isLeader: boolean;
  readonly hasLeader: boolean;
  readonly errors: readonly string[];
}

/** One member of the cluster. */
export interface Member {
  readonly name: string;
  readonly clientUrls: readonly string[];
  readonly isLearner: boolean;
}

const shared = new ProtobufWriter();

/** Encodes a range request. */
export function encodeRange(request: RangeRequest): Uint8Array {
  return shared.encode((writer) => writeRange(writer, request));
}

/** Encodes a transaction of one comparison and one operation per branch. */
export function encodeTxn(request: TxnRequest): Uint8Array {
  return shared.encode((writer) => {
    const { compare, success, failure } = request;
    if (failure !== undefined) writer.message(3, () => writeOperation(writer, failure));
    writer.message(2, () => writeOperation(writer, success));
    writer.message(1, () => {
      // The operand is a oneof: zero must be present, or etcd would compare with "nothing".
      if (compare.modRevision === 0) writer.zero(6);
      else writer.integer(6, compare.modRevision);
      writer.bytes(3, compare.key);
      writer.integer(2, 2);
    });
  });
}

function writeRange(writer: ProtobufWriter, request: RangeRequest): void {
  writer.boolean(9, request.countOnly ?? false);
  writer.boolean(8, request.keysOnly ?? false);
  writer.boolean(7, request.serializable ?? false);
  writer.integer(4, request.revision ?? 0);
  writer.integer(3, request.limit ?? 0);
  writer.bytes(2, request.rangeEnd ?? "");
  writer.bytes(1, request.key);
}

function writeOperation(writer: ProtobufWriter, operation: Operation): void {
  switch (operation.type) {
    case "range":
      writer.message(1, () => writeRange(writer, operation.request));
      break;
    case "put":
      writer.message(2, () => {
        writer.integer(3, operation.lease ?? 0n);
        writer.bytes(2, operation.value);
        writer.bytes(1, operation.key);
      });
      break;
    case "delete":
      writer.message(3, () => {
        writer.bytes(2, operation.rangeEnd ?? "");
        writer.bytes(1, operation.key);
      });
  }
}

/** Encodes a compaction request. */
export function encodeCompaction(revision: number): Uint8Array {
  return shared.encode((writer) => writer.integer(1, revision));
}

/** Encodes the request that starts a watch with progress notifications and fragments. */
export function encodeWatchCreate(request: WatchCreateRequest): Uint8Array {
  return shared.encode((writer) =>
    writer.message(1, () => {
      writer.boolean(8, true);
      writer.boolean(6, request.withPrevious);
      writer.boolean(4, true);
      writer.integer(3, request.startRevision);
      writer.bytes(2, request.rangeEnd ?? "");
      writer.bytes(1, request.key);
    }),
  );
}

/** Encodes the request that ends one watch of a stream. */
export function encodeWatchCancel(watchId: number): Uint8Array {
  return shared.encode((writer) => writer.message(2, () => writer.integer(1, watchId)));
}

/** Encodes the request to report the progress of all watches of a stream. */
export function encodeWatchProgress(): Uint8Array {
  return shared.encode((writer) => writer.message(3, () => undefined));
}

/** Encodes a lease grant; etcd chooses the id. */
export function encodeLeaseGrant(ttlSeconds: number): Uint8Array {
  return shared.encode((writer) => writer.integer(1, ttlSeconds));
}

/** Encodes a request with a lease id: revoke and keep-alive have the same form. */
export function encodeLeaseId(id: bigint): Uint8Array {
  return shared.encode((writer) => writer.integer(1, id));
}

/** Encodes a request without fields, such as Status. */
export function encodeEmpty(): Uint8Array {
  return new Uint8Array(0);
}

/** Decodes the response to a range request. */
export function decodeRange(bytes: Uint8Array): RangeResponse {
  return readRange(new ProtobufReader(bytes));
}

function readRange(reader: ProtobufReader): RangeResponse {
  const entries: Entry[] = [];
  let revision = 0;
  let more = false;
  let count = 0;
  while (reader.next()) {
    if (reader.field === 1) revision = reader.message(readRevision);
    else if (reader.field === 2) entries.push(reader.message(readEntry));
    else if (reader.field === 3) more = reader.boolean();
    else if (reader.field === 4) count = reader.integer();
  }
  return { revision, entries, more, count };
}

/** Decodes the response to a transaction. */
export function decodeTxn(bytes: Uint8Array): TxnResponse {
  const reader = new ProtobufReader(bytes);
  let entries: readonly Entry[] = [];
  let revision = 0;
  let succeeded = false;
  let deleted = 0;
  while (reader.next()) {
    if (reader.field === 1) revision = reader.message(readRevision);
    else if (reader.field === 2) succeeded = reader.boolean();
    else if (reader.field === 3) {
      const result = reader.message(readOperationResult);
      entries = result.entries;
      deleted = result.deleted;
    }
  }
  return { revision, succeeded, entries, deleted };
}

function readOperationResult(reader: ProtobufReader): { entries: readonly Entry[]; deleted: number } {
  let entries: readonly Entry[] = [];
  let deleted = 0;
  while (reader.next()) {
    if (reader.field === 1) entries = reader.message(readRange).entries;
    else if (reader.field === 3) deleted = reader.message(readDeleted);
  }
  return { entries, deleted };
}

function readDeleted(reader: ProtobufReader): number {
  let deleted = 0;
  while (reader.next()) if (reader.field === 2) deleted = reader.integer();
  return deleted;
}

function readRevision(reader: ProtobufReader): number {
  let revision = 0;
  while (reader.next()) if (reader.field === 3) revision = reader.integer();
  return revision;
}

const NO_BYTES: Uint8Array = new Uint8Array(0);

/** Decodes a `mvccpb.KeyValue`, which etcd also stores on disk. Throws ProtobufError. */
export function decodeKeyValue(bytes: Uint8Array): Entry {
  return readEntry(new ProtobufReader(bytes));
}

/** Decodes only the key of a `mvccpb.KeyValue`. */
export function decodeKey(bytes: Uint8Array): string {
  const reader = new ProtobufReader(bytes);
  while (reader.next()) if (reader.field === 1) return reader.string();
  return "";
}

function readEntry(reader: ProtobufReader): Entry {
  let key = "";
  let value = NO_BYTES;
  let createRevision = 0;
  let modRevision = 0;
  while (reader.next()) {
    if (reader.field === 1) key = reader.string();
    else if (reader.field === 2) createRevision = reader.integer();
    else if (reader.field === 3) modRevision = reader.integer();
    else if (reader.field === 5) value = reader.bytes();
  }
  return { key, value, createRevision, modRevision };
}

/** Decodes one message of a watch stream. */
export function decodeWatch(bytes: Uint8Array): WatchResponse {
  const reader = new ProtobufReader(bytes);
  const events: WatchEvent[] = [];
  let revision = 0;
  let watchId = 0;
  let compactRevision = 0;
  let cancelReason = "";
  let created = false;
  let canceled = false;
  let fragment = false;
  while (reader.next()) {
    if (reader.field === 1) revision = reader.message(readRevision);
    else if (reader.field === 2) watchId = reader.integer();
    else if (reader.field === 3) created = reader.boolean();
    else if (reader.field === 4) canceled = reader.boolean();
    else if (reader.field === 5) compactRevision = reader.integer();
    else if (reader.field === 6) cancelReason = reader.string();
    else if (reader.field === 7) fragment = reader.boolean();
    else if (reader.field === 11) events.push(reader.message(readEvent));
  }
  return { revision, watchId, created, canceled, compactRevision, cancelReason, fragment, events };
}

function readEvent(reader: ProtobufReader): WatchEvent {
  let isDelete = false;
  let entry: Entry = { key: "", value: NO_BYTES, createRevision: 0, modRevision: 0 };
  let previous: Entry | undefined;
  while (reader.next()) {
    if (reader.field === 1) isDelete = reader.integer() === 1;
    else if (reader.field === 2) entry = reader.message(readEntry);
    else if (reader.field === 3) previous = reader.message(readEntry);
  }
  return { isDelete, entry, previous };
}

/** Decodes the response to a lease grant or keep-alive. A TTL of 0 means that the lease has expired. */
export function decodeLease(bytes: Uint8Array): LeaseResponse {
  const reader = new ProtobufReader(bytes);
  let id = 0n;
  let ttlSeconds = 0;
  let error = "";
  while (reader.next()) {
    if (reader.field === 2) id = reader.bigInteger();
    else if (reader.field === 3) ttlSeconds = reader.integer();
    else if (reader.field === 4) error = reader.string();
  }
  return { id, ttlSeconds, error };
}

/** Decodes a member's status. */
export function decodeStatus(bytes: Uint8Array): StatusResponse {
  const reader = new ProtobufReader(bytes);
  const errors: string[] = [];
  let version = "";
  let dbSizeBytes = 0;
  let member = 0n;
  let leader = 0n;
  while (reader.next()) {
    if (reader.field === 1) member = reader.message(readMemberId);
    else if (reader.field === 2) version = reader.string();
    else if (reader.field === 3) dbSizeBytes = reader.integer();
    else if (reader.field === 4) leader = reader.bigInteger();
    else if (reader.field === 8) errors.push(reader.string());
  }
  return { version, dbSizeBytes, isLeader: leader !== 0n && leader === member, hasLeader: leader !== 0n, errors };
}

function readMemberId(reader: ProtobufReader): bigint {
  let id = 0n;
  while (reader.next()) if (reader.field === 2) id = reader.bigInteger();
  return id;
}

/** Decodes the list of members. */
export function decodeMembers(bytes: Uint8Array): Member[] {
  const reader = new ProtobufReader(bytes);
  const members: Member[] = [];
  while (reader.next()) if (reader.field === 2) members.push(reader.message(readMember));
  return members;
}

function readMember(reader: ProtobufReader): Member {
  const clientUrls: string[] = [];
  let name = "";
  let isLearner = false;
  while (reader.next()) {
    if (reader.field === 2) name = reader.string();
    else if (reader.field === 4) clientUrls.push(reader.string());
    else if (reader.field === 5) isLearner = reader.boolean();
  }
  return { name, clientUrls, isLearner };
}
