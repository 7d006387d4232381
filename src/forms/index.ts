/**
 * Forms by which people ask for an account's mail themselves. What must hold: nobody is on a list before they confirm
 * by mail (unless the account says otherwise); a mail contains nothing that a visitor typed; whoever sends a form in is
 * told the same, whatever the account knows of the address; a form sends no more than its limits; mail that comes back
 * stops the form, never the account. `routes.ts` has what sends mail; the rest loads in mail threads.
 */

export { addressOf, formAnswer, formsAnswer, shownForm, stateOf, submissionsOf } from './answers.js'
export { carefulUntil } from './careful.js'
export { sampleConfirmation } from './confirmation-mail.js'
export { entriesOf, eraseEntries, waitsMs } from './entry.js'
export { dueReminders, forgetEntries } from './entry-chores.js'
export { formAlarms, formTally, makeFollowForms } from './follow.js'
export {
  type AskedField,
  checkForm,
  createForm,
  type FormSettings,
  findForm,
  handForm,
  heldOf,
  listForms,
  listsThere,
  pageForm,
  resumeForm,
  type SignupForm,
  updateForm,
  usualSettings,
} from './form.js'
export { type KnownField, knownFields } from './known-fields.js'
export { formLimits } from './limits.js'
export { makeSignupTokens, type SignupTokens } from './links.js'
export { confirmationSenders } from './sender.js'
export { type FormTallies, makeFormTallies } from './tallies.js'
export { announceForms } from './tell.js'
export { sentName } from './typed.js'
export { consentIn, usualConsent } from './usual-consent.js'
export { waitingEntries } from './waiting.js'
export { wordsIn } from './words/index.js'
