import { numberFault } from '../json/index.js'
import { shown } from './columns.js'
import { maxMetadataBytes, maxNameLength } from './fields.js'

type NameField = 'firstName' | 'lastName'

/** Why a row is refused, in words: those of the API, and those of the file of refused rows that a page gives. */
export interface RowWords {
  noAddress: string
  notAddress(given: string): string
  longName(field: NameField): string
  /** A cell should say whether somebody left, and is unclear. */
  unclear(column: string, cell: string): string
  /** A number in a JSON cell would lose digits; undefined: there is no such number. */
  inexact(own: Record<string, unknown>): string | undefined
  tooMuch: string
  /** Too much together with what is already stored of them. */
  tooMuchKnown: string
}

/** Uses the API's names of fields. */
export const apiRowWords: RowWords = {
  noAddress: 'it has no email',
  notAddress: (given) => `email ${shown(given)} is not an email address`,
  longName: (field) => `${field} has over ${maxNameLength} characters, or a control character`,
  unclear: (column, cell) =>
    `${shown(column)} is ${shown(cell)}, which does not say whether somebody left: expected yes, no or a date; rename the column to keep it as metadata`,
  inexact: (own) => numberFault('metadata', own),
  tooMuch: `the cells that go into metadata have over ${maxMetadataBytes} bytes`,
  tooMuchKnown: `metadata, together with what is stored already, has over ${maxMetadataBytes} bytes`,
}

const names: Readonly<Record<NameField, string>> = {
  firstName: 'the first name',
  lastName: 'the last name',
}

/** Of a row that is taken in, with a phone number that cannot be read. */
export const keptPhone = (given: string): string =>
  `it is taken in, but ${inQuotes(given)} is no phone number: that is kept as a text, in the field “phone”`

// JSON's quotes would be doubled in a file of comma-separated values.
const inQuotes = (text: string) => `“${shown(text).slice(1, -1)}”`

/** For people, who know columns and fields by the names on pages. */
export const pageRowWords: RowWords = {
  noAddress: 'it has no address',
  notAddress: (given) => `${inQuotes(given)} is no email address`,
  longName: (field) =>
    `${names[field]} has over ${maxNameLength} characters, or some that cannot be seen`,
  unclear: (column, cell) =>
    `${inQuotes(column)} is ${inQuotes(cell)}, which does not say whether somebody left: write yes, no or a date, or make the column a field of your own`,
  inexact: (own) =>
    numberFault('', own) === undefined
      ? undefined
      : 'a number in it is too long to be kept exactly: write it as a text, in quotes',
  tooMuch: `the cells that become fields of your own have over ${maxMetadataBytes} bytes`,
  tooMuchKnown: `fields of your own, with what is known of them already, would have over ${maxMetadataBytes} bytes`,
}
