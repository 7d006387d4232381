export { numberFault, refuseInexact } from './numbers.js'

/**
 * Unchecked values of JSON (RFC 8259) as `JSON.parse` makes them: bodies of requests, columns of the database, files,
 * options. A table of TOML is such a value too.
 */
export type Json = null | boolean | number | string | Json[] | JsonObject

/** Its names may be anything, `__proto__` among them. */
export interface JsonObject {
  [key: string]: Json
}

/** Whether it is an object with names: neither null nor a list, which JavaScript calls objects as well. */
export function isJsonObject(value: Json | undefined): value is JsonObject
export function isJsonObject(value: unknown): value is Record<string, unknown>
export function isJsonObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object that a text holds; undefined for a text that is no JSON, and for any other value. */
export function jsonObjectIn(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** How many bytes a value has as JSON; infinitely many if it is nested deeper than the stack. */
export function jsonBytes(value: unknown): number {
  try {
    return Buffer.byteLength(JSON.stringify(value) ?? '')
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
