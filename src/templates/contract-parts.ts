import { blockDocument } from '../blocks/index.js'
import { answer, invalidField, manyOf, type Named, refusal } from '../contract/index.js'
import {
  count,
  field,
  orNull,
  schemasOf,
  shaped,
  structOf,
  text,
  time,
  uuid,
  words,
} from '../fields/index.js'

// Only few characters are allowed, because the slug is used in paths, commands and log lines. A 422 that names the
// field tells of a bad one, as for a bad part.
export const slug = words('The name by which mails ask for the template', {
  pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
  examples: ['welcome'],
})
export const subject = words('The subject, in Liquid')
export const html = words(
  'The HTML, in Liquid; at most 256 KiB. Marketing mail also has `unsubscribe_url`, `preferences_url` and `unsubscribe_footer` (see campaigns). In an `href` a tag may be percent-encoded',
)
/** The same content as blocks. The OpenAPI document has its shape once. */
export const blocks = field(structOf(blockDocument), {
  ...shaped('BlockDocument'),
  description:
    'The content as blocks, in place of `html`, which is made of them with the account’s brand. HTML that is saved later takes their place',
})
// `textBody` and not `text`, as interface.md names the text of a template.
export const textBody = words(
  'The text part, in Liquid; at most 256 KiB. Without it the text is made from the HTML',
)
const version = count('The number of the version; each save makes the next one', { minimum: 1 })
const savedAt = time('When this version was saved')

// Slugs are case-sensitive and scoped to the account (interface.md, 404). Any text is allowed; it may be a slug that
// the account does not have.
const params = { slug: words('The slug of the template') }
export const template: Named<typeof params> = {
  params,
  about: schemasOf(params),
  notFound: 'The account has no template "welcome"',
  when: 'The account has no such template or version',
}
/** A template, or one of its versions. */
export const known = {
  slug: text('The name by which mails ask for the template; case-sensitive'),
  version,
  subject,
  html,
  textBody: orNull(textBody.schema),
  blocks: {
    anyOf: [shaped('BlockDocument'), { type: 'null' }],
    description: 'The blocks that the HTML is made of; null where somebody wrote the HTML',
  },
  savedAt,
}
/** Without the content, because a part may have 256 KiB. */
export const ofVersion = { version, subject, savedAt }
export const ofTemplate = {
  slug: known.slug,
  version,
  subject,
  createdAt: time('When its first version was saved'),
  savedAt,
}

// Version 3, so that examples can have older versions.
export const example = {
  slug: 'welcome',
  version: 3,
  subject: 'Welcome, {{ name }}',
  html: '<p>Hello {{ name }}!</p>',
  textBody: null,
  blocks: null,
  savedAt: '2026-11-21T10:00:00.000Z',
}

/**
 * Every save after the first one. A change reaches automation runs under way: those whose steps could fail are named.
 */
export const isSaved = () =>
  answer(
    'The version that is in use now',
    'TemplateSaved',
    {
      ...known,
      automations: {
        ...manyOf({
          id: uuid('The id of the automation'),
          name: text('The name of the automation'),
          liveRuns: count('How many live runs have steps that send it'),
          warnings: {
            ...manyOf({
              key: text('The key of the step'),
              error: text('What is wrong there'),
            }),
            description: 'Variables that the template needs and a send step does not know',
          },
        }),
        description:
          'Automations that are enabled or have live runs, whose next mails are made of this template',
      },
    },
    { ...example, automations: [] },
  )

// A 422 with the name of the part: the body has the right shape, but its content is refused.
export const badField = () =>
  invalidField(
    'A part is empty or too large, or the slug has characters that no slug has',
    "A template's html must not be empty",
    'html',
  )
// Line and column, because templates are written in editors that jump there.
export const badLiquid = () =>
  refusal(
    'validation_error',
    'Its Liquid is wrong',
    'Template "welcome" has a syntax error: unexpected "}" (html, line 1, column 7)',
    {
      status: 422,
      shape: 'BadTemplate',
      fields: {
        part: orNull(text('The part that is wrong, `subject`, `html` or `text`; null: all of it')),
        line: count('The line of that part, from 1'),
        column: count('The column of that line, from 1'),
        field: text('Of blocks in place of these two: the text that is wrong, as `blocks.3.text`'),
      },
      optional: ['line', 'column', 'field'],
      example: { part: 'html', line: 1, column: 7 },
    },
  )
