import { answer, type Contract, invalidField, operation, shape } from '../contract/index.js'
import {
  colour,
  flag,
  line,
  list,
  maybe,
  oneOf,
  orNull,
  someLines,
  table,
  text,
  textThat,
} from '../fields/index.js'
import { type AccountLanguage, languageCodes } from './language.js'

const colours = {
  background: colour('Behind everything'),
  text: colour('Of the words'),
  button: colour('Of the button'),
  buttonText: colour('Of the words on the button'),
}

const mostPostal = 500
const isPostal = (value: string) =>
  value.length <= mostPostal && value.isWellFormed() && !/[^\P{Cc}\r\n]/u.test(value)

const parts = {
  postalAddress: textThat(
    'at most 500 characters in lines',
    isPostal,
    {
      type: 'string',
      maxLength: mostPostal,
      description:
        'The postal address, which the law of many countries wants in marketing mail; `{{ postal_address }}` in templates, and in the footer by itself',
    },
    someLines(0, mostPostal),
  ),
  languages: list(oneOf<AccountLanguage>(languageCodes), {
    least: 1,
    most: languageCodes.length,
    about:
      "The languages in which recipients may be addressed: by the contact's `language`, then by their browser, else in the account's own",
  }),
  senderName: line(
    0,
    100,
    'The name that mail comes from where nothing else says it; may be empty',
  ),
  defaultFrom: line(
    0,
    320,
    'The address that mail comes from where nothing else says it; may be empty',
  ),
}

const archiveListed = flag(
  'Whether search engines may list the public page of past campaigns; by default they may not',
)

const example = {
  colours: { background: '#ffffff', text: '#1c2430', button: '#0a5a9c', buttonText: '#ffffff' },
  postalAddress: 'City Library, 1 Main Street, Lagos',
  languages: ['en', 'fr'],
  senderName: 'City Library',
  defaultFrom: 'news@mail.example.com',
  archiveListed: false,
  archivePath: '/a/5cJ0pRk2mXw8Qz1T',
}

const known = {
  colours: table(colours),
  ...parts,
  archiveListed,
  archivePath: orNull(
    text(
      'Where everybody can see past campaigns that have `archive`, below the address of the public listener; null before there was one',
    ),
  ),
}
const shown = () => answer('The whole brand', 'Brand', known, example)

export const getBrand = operation('GET /v1/brand', {
  id: 'getBrand',
  may: 'read',
  says: () => ({ summary: 'How the account looks to recipients', answers: [shown()] }),
})

export const updateBrand = operation('PATCH /v1/brand', {
  id: 'updateBrand',
  may: 'full',
  audit: 'brand.change',
  body: shape(
    'BrandChanges',
    table(
      {
        colours: maybe(
          table({
            background: maybe(colours.background),
            text: maybe(colours.text),
            button: maybe(colours.button),
            buttonText: maybe(colours.buttonText),
          }),
        ),
        postalAddress: maybe(parts.postalAddress),
        languages: maybe(parts.languages),
        senderName: maybe(parts.senderName),
        defaultFrom: maybe(parts.defaultFrom),
        archiveListed: maybe(archiveListed),
      },
      { about: 'Fields that are not given stay as they are.' },
    ),
  ),
  says: () => ({
    summary: 'Change how the account looks to recipients',
    examples: { 'The address for footers': { postalAddress: example.postalAddress } },
    answers: [shown()],
    refusals: [
      invalidField(
        'Words that cannot be read on their ground, or an address that is none',
        'The text on its background has a contrast of 1.3, and needs 4.5: choose a darker or a lighter colour',
        'colours.text',
      ),
    ],
  }),
})

export const brand: Contract = {
  tag: {
    name: 'Brand',
    description: 'How pages and mail look to recipients. The logo is set by page and command.',
  },
  operations: [getBrand, updateBrand],
}
