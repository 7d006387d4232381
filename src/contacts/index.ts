/**
 * Contacts: the people that an account knows. What must hold: one contact an account and address
 * (compared as a whole in lower case); phone numbers are kept in E.164; that somebody
 * unsubscribed is a suppression, which outlives the contact, and is written nowhere else.
 */
export { addContact, type Contact, findContact } from './contact.js'
export { findByPhone, toE164 } from './phone.js'
