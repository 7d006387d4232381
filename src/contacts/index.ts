/**
 * Contacts: the people to whom an account writes, and the lists that they are on. What must hold:
 * an account has one contact for each address (compared as a whole in lower case); phone numbers
 * are kept in E.164; that somebody unsubscribed is a suppression, which outlives the contact, and
 * is written nowhere else; counters (of a list, of an account) change in the transaction of what
 * they count.
 */

export {
  contactAnswer,
  deletedContact,
  deletedList,
  listAnswer,
  shownList,
  shownMember,
} from './answers.js'
export {
  type AskedContact,
  type AskedId,
  type AskFirst,
  standingOn,
  wantConfirmation,
  whyNotAsked,
} from './ask-first.js'
export { type AskedSome, askSome } from './ask-some.js'
export type { KnownPolicy } from './bulk.js'

export { applyBulk, type BulkOrder, bulkDeeds, changeSome, checkBulk } from './bulk-task/order.js'
export {
  type BulkTask,
  type BulkTasks,
  findBulk,
  makeBulkTasks,
  shownBulk,
} from './bulk-task/tasks.js'
export { columnUses } from './columns.js'
export {
  type AddedContact,
  addContact,
  addContactIn,
  type Contact,
  type ContactEffect,
  type ContactNews,
  findContact,
  type NewContact,
  noEmail,
} from './contact.js'
export { type ContactEngagement, engagementOf } from './engagement.js'
export { erasedContacts } from './erased-contacts.js'
export { isName, nameKeys } from './fields.js'
export { fieldsInUse, isTagName } from './fields-in-use.js'
export { type ContactSearch, type ContactState, contactStates } from './filters.js'
export { exportFitting, knownNumber } from './fitting.js'
export { goneNames, keepName } from './gone-names.js'
export { contactHistory } from './history.js'
export { type ContactImportCounts, type ContactImportOptions, importContacts } from './import.js'
export { maxImportBytes } from './import-task/files.js'
export {
  findImport,
  type ImportOrder,
  type ImportTask,
  isUndoable,
  linesOf,
  listImports,
} from './import-task/import-task.js'
export { noMailCsv } from './import-task/no-mail-csv.js'
export { importOnto } from './import-task/onto.js'
export { mostNoted } from './import-task/progress.js'
export { refusedCsv } from './import-task/refused.js'
export { type ImportTasks, makeImportTasks } from './import-task/tasks.js'
export { serveImports } from './import-thread.js'
export { type Importer, openImporter } from './importer.js'
export {
  type ContactDeps,
  type ContactList,
  changeList,
  createList,
  type ListDay,
  listDays,
  listLists,
  listPage,
  requireList,
} from './list.js'
export {
  type FileDelimiter,
  fileEncodings,
  type MappedColumn,
  type Mapping,
  mappedUses,
  useWords,
} from './mapping.js'
export {
  contactsCsv,
  contactsHead,
  exportContacts,
  listMembers,
  type Member,
  type MemberPage,
  membersAmong,
} from './members.js'
export {
  type MailStanding,
  type NoMailReason,
  noMailReason,
  noMailReasons,
  noMailWords,
} from './no-mail.js'
export { changeContact, listsOfContacts, requireContact } from './one.js'
export { findByPhone, phoneCountries, phoneNotations, toE164 } from './phone.js'
export {
  deleteContact,
  deleteList,
  onlyOnList,
  removeDeletedLists,
  removeFromList,
  whatDeletionTakes,
} from './remove.js'
export { type Sampled, sampleContacts, scaled } from './sample.js'
export { findContacts } from './search.js'
export { type SeenNumber, seeFitting } from './seen-number.js'
export {
  contactsAmong,
  deleteContacts,
  deleteContactsIn,
  mostAtOnce,
  putOnList,
  putOnListIn,
  takeOffList,
} from './some.js'
export { contactTotal } from './total.js'
export { type UnreadPhones, unreadPhones } from './unread-phones.js'
export {
  erasedWords,
  happeningWords,
  type MailCause,
  type MailVerdict,
  type WhyMail,
  whyMail,
} from './why-mail.js'
