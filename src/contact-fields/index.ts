/**
 * Fields of contacts: how an account describes what it knows of its people, so that pages, forms, imports and the
 * preference centre use the same names and take the same values. What must hold: names are unique within an account
 * whatever their case, and never change; a description limits what people type, and never what the API stores in
 * `metadata`.
 */
export { contactFieldsAnswer, deletedContactField, shownContactField } from './answers.js'
export {
  type ContactField,
  createContactField,
  deleteContactField,
  listContactFields,
  moveContactField,
  requireContactField,
  updateContactField,
} from './contact-field.js'
export {
  type FieldType,
  fieldTypes,
  isFieldName,
  isNameField,
  maxChoices,
  maxTypedChars,
  typedValue,
  wantedOf,
} from './kinds.js'
export { isFreeName, nameFrom } from './name-from.js'
