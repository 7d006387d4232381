import {
  answer,
  byId,
  closedOf,
  inexactNumber,
  manyOf,
  operation,
  pageParams,
  refusal,
  shape,
} from '../contract/index.js'
import {
  count,
  list,
  maybe,
  oneOf,
  orNull,
  shaped,
  table,
  text,
  time,
  uuid,
  words,
} from '../fields/index.js'
import {
  contactsFound,
  exactAddress,
  example,
  gone,
  known,
  mailStays,
  metadata,
  nameOf,
  phoneOf,
} from './contract-parts.js'
import { contactStates } from './filters.js'

const contact = byId('contact')

export const findContacts = operation('GET /v1/contacts/all', {
  id: 'findContacts',
  may: 'read',
  query: {
    ...pageParams(),
    email: exactAddress,
    q: maybe(
      words(
        'How the address, the name, the last name or the phone number begins; upper and lower case are the same',
      ),
    ),
    list: maybe(words('Only who is on this list: its UUID')),
    segment: maybe(words('Only who is in this segment: its UUID')),
    sort: maybe(oneOf(['newest'], 'Newest first, where `q` is not given; else by address')),
    state: maybe(
      oneOf(
        contactStates,
        '`mailable`: only who gets marketing mail; else only who does not, for this reason (`suppressed`: by hand; `erased`: those of these who were erased on request and added again)',
      ),
    ),
  },
  says: () => ({
    summary: 'Find contacts, whatever lists they are on',
    description:
      'By address; with `list`, `segment` or `sort` and without `q` newest first. A page reads 1,000 contacts or so at most: where few of them fit it may have fewer than `limit`, or none, and `hasMore` says whether there is a next one.',
    answers: [contactsFound('Those who fit')],
    refusals: [
      refusal(
        'validation_error',
        'The cursor belongs to other filters, or to no list',
        'The cursor does not belong to this list',
      ),
      refusal(
        'not_found',
        'The account has no such list',
        'The account has no contact list with this id',
      ),
      refusal(
        'not_found',
        'The account has no such segment',
        'The account has no segment with this id',
      ),
    ],
  }),
})

const causes = {
  kind: text('What happened, as the history of a suppression says it', {
    examples: ['unsubscribed', 'bounced', 'added'],
  }),
  at: time('When it happened'),
  by: orNull(
    text(
      "Who said it: `recipient`, the recipient's `server`, `operator`, `time`, or the account by its `api`, `dashboard` or `command`; null where that was not recorded",
    ),
  ),
  email: orNull(
    closedOf({
      id: uuid('The id of the mail'),
      subject: orNull(text('Its subject; null where the mail is not kept any more')),
    }),
  ),
  note: orNull(text("A note, or what the recipient's server said; null: none")),
  listId: orNull(uuid('The list on which they came; null: none')),
  file: orNull(text('The file of the import that brought them; null: none did')),
  until: orNull(time('When it ends by itself; null: it does not')),
}
const verdict = {
  gets: { type: 'boolean', description: 'Whether such mail is sent to the address' },
  because: manyOf('MailCause'),
} as const
const whole = {
  ...known,
  engagement: {
    ...closedOf({
      sent: count('Mails that a server has taken for them'),
      opened: count('Mails that they opened'),
      clicked: count('Mails in which they clicked'),
      lastSentAt: orNull(time('When a server took the last one; null: none was')),
      lastOpenedAt: orNull(time('When they last opened one; null: never')),
      lastClickedAt: orNull(time('When they last clicked; null: never')),
    }),
    description:
      'What became of mail to them since they were a contact, kept when the mails are gone. People alone count: no opens or clicks of machines',
  },
  lists: {
    ...manyOf({
      id: uuid('The id of the list'),
      name: text('Its name'),
      addedAt: time('When the contact was put on it'),
    }),
    description: 'The lists that the contact is on, by name',
  },
  mail: {
    ...closedOf({
      says: text('Why they get marketing mail or not, in a sentence, which may change'),
      marketing: shaped('MailVerdict'),
      transactional: shaped('MailVerdict'),
      topics: manyOf({
        id: uuid('The id of the topic'),
        name: text('Its name'),
        ...verdict,
      }),
    }),
    description:
      'What is sent to the address and why, or why not: who said it, when and how. Archived topics are left out',
  },
}
const cause = {
  kind: 'unsubscribed',
  at: '2026-11-21T10:00:00.000Z',
  by: 'recipient',
  email: { id: '01a1fc92-9915-7533-8296-0c1d2e3f4a5b', subject: 'News' },
  note: 'one click',
  listId: null,
  file: null,
  until: null,
}
const wholeExample = {
  ...example,
  engagement: {
    sent: 12,
    opened: 7,
    clicked: 2,
    lastSentAt: '2026-11-21T09:00:00.000Z',
    lastOpenedAt: '2026-11-21T09:58:00.000Z',
    lastClickedAt: null,
  },
  lists: [
    {
      id: '01a1fc92-9915-7533-8296-04ee3d91dd72',
      name: 'Readers',
      addedAt: '2026-11-20T10:00:00.000Z',
    },
  ],
  mail: {
    says: 'Gets none: unsubscribed on 21 Nov 2026 by the mail “News”',
    marketing: { gets: false, because: [cause] },
    transactional: {
      gets: true,
      because: [
        { ...cause, kind: 'added', at: example.createdAt, by: 'api', email: null, note: null },
      ],
    },
    topics: [
      {
        id: '01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
        name: 'Offers',
        gets: false,
        because: [cause],
      },
    ],
  },
}

/** Shapes that these answers name. */
export const wholeShapes = () => ({
  MailCause: closedOf(causes),
  MailVerdict: closedOf(verdict),
})

export const getContact = operation('GET /v1/contacts/all/:id', {
  id: 'getContact',
  may: 'read',
  of: contact,
  says: () => ({
    summary: 'Read a contact, and why mail goes to them or does not',
    answers: [answer('The contact as a whole', 'WholeContact', whole, wholeExample)],
  }),
})

/** `defaultCountry`: the country of phone numbers without an international prefix; ISO 3166. */
export const updateContactIn = (defaultCountry: string) =>
  operation('PATCH /v1/contacts/all/:id', {
    id: 'updateContact',
    may: 'full',
    audit: 'contact.change',
    of: contact,
    body: shape(
      'ContactChanges',
      table(
        {
          firstName: maybe(nameOf('First name')),
          lastName: maybe(nameOf('Last name')),
          phone: maybe(phoneOf(defaultCountry, true)),
          metadata: maybe(metadata),
          removeMetadata: maybe(
            list(words('A key'), {
              most: 1_000,
              about: 'Keys of the metadata that go; those of `metadata` are laid over what is left',
            }),
          ),
        },
        {
          atLeastOne: true,
          about:
            'Fields that are not given stay as they are; an empty name or phone number takes it away.',
        },
      ),
    ),
    says: () => ({
      summary: 'Change a contact',
      description:
        'The address stays: it is what suppressions, topics and the consent record know somebody by.',
      examples: {
        'A name and a field': { firstName: 'Ann', metadata: { town: 'Lagos' } },
        'What is taken away': { phone: '', removeMetadata: ['town'] },
      },
      answers: [answer('As it is after the request', 'WholeContact', whole, wholeExample)],
      refusals: [
        refusal(
          'validation_error',
          'The metadata, together with what is stored already, is too large',
          'metadata, together with what is stored already, has over 16384 bytes',
        ),
        inexactNumber('metadata.customer'),
      ],
    }),
  })

export const deleteContact = operation('DELETE /v1/contacts/all/:id', {
  id: 'deleteContact',
  may: 'full',
  audit: 'contact.delete',
  of: contact,
  says: () => ({
    summary: 'Delete a contact, off all lists',
    description: `Irreversibly; runs of automations that they are in end. Suppression, opt-outs of topics and the consent record remain. ${mailStays}`,
    answers: [gone('They were deleted', example.id, 'Contact deleted')],
  }),
})

/** Those of contacts of all lists and of none. */
export const allContactOperations = [findContacts, getContact, updateContactIn(''), deleteContact]
