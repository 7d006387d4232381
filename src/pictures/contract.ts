import {
  accountRefusals,
  answer,
  byId,
  type Contract,
  ceiling,
  confirmation,
  foreignCursor,
  invalidField,
  manyOf,
  operation,
  pageFields,
  pageParams,
  refusal,
  shape,
  storageFull,
} from '../contract/index.js'
import { count, line, maybe, table, text, textThat, time, uuid } from '../fields/index.js'

const picture = byId('picture')
export const name = line(1, 200, 'The name, for yourself: that of its file')
export const alt = line(
  0,
  500,
  'What it shows, for people who do not see it; empty where it only decorates',
)

// Any number of line ends may stand between; the decoded bytes are judged later.
const isBase64 = (given: string) => /^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(given)
const content = textThat('the file in base64', isBase64, {
  type: 'string',
  contentEncoding: 'base64',
  description:
    'The file in base64 (RFC 4648 §4): a PNG, JPEG, GIF or WebP of at most 5 MiB and 25 million pixels',
})

const known = {
  id: uuid('The id of the picture'),
  name,
  alt,
  url: text('Where mails and browsers find it'),
  contentType: text('What it is, by its bytes'),
  width: count('In pixels'),
  height: count('In pixels'),
  size: count('The size in bytes, as it is stored'),
  createdAt: time('When it was uploaded'),
}
const example = {
  id: '01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
  name: 'books.jpg',
  alt: 'Three new books on a table',
  url: 'https://mail.example.com/pictures/Zm9vYmFyYmF6cXV4Zm9vYg.jpg',
  contentType: 'image/jpeg',
  width: 1_200,
  height: 800,
  size: 182_044,
  createdAt: '2026-11-21T10:00:00.000Z',
}

export const listPictures = operation('GET /v1/pictures', {
  id: 'listPictures',
  may: 'read',
  query: pageParams(),
  says: () => ({
    summary: 'List the pictures',
    answers: [
      answer(
        'The newest first',
        'Pictures',
        { pictures: manyOf('Picture'), ...pageFields },
        { pictures: [example], hasMore: false, nextCursor: null },
      ),
    ],
    refusals: [foreignCursor],
  }),
})

export const getPicture = operation('GET /v1/pictures/:id', {
  id: 'getPicture',
  may: 'read',
  of: picture,
  says: () => ({
    summary: 'Get a picture: its words, its size and its address',
    answers: [answer('The picture', 'Picture', known, example)],
  }),
})

export const addPicture = operation('POST /v1/pictures', {
  id: 'addPicture',
  may: 'full',
  audit: 'picture.add',
  body: shape('NewPicture', table({ name, alt: maybe(alt), content })),
  says: () => ({
    summary: 'Upload a picture for mails',
    description:
      'Places, times and what else a camera writes into it are taken out. Its address holds until it is deleted.',
    examples: {
      'A picture': {
        name: 'dot.gif',
        alt: '',
        content: 'R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=',
      },
    },
    answers: [answer('It is stored', 'Picture', known, example, 201)],
    refusals: [
      invalidField(
        'It is no picture that mail programs show',
        'An SVG can hold scripts, and most mail programs do not show it: save it as PNG',
        'content',
      ),
      ...accountRefusals,
      ceiling('1000 pictures', 'pictures'),
      storageFull,
    ],
  }),
})

export const changePicture = operation('PATCH /v1/pictures/:id', {
  id: 'changePicture',
  may: 'full',
  audit: 'picture.change',
  of: picture,
  body: shape(
    'PictureChanges',
    table(
      { name: maybe(name), alt: maybe(alt) },
      { about: 'Fields that are not given stay as they are.' },
    ),
  ),
  says: () => ({
    summary: 'Change what is said of a picture',
    examples: { 'What it shows': { alt: example.alt } },
    answers: [answer('The whole picture', 'Picture', known, example)],
  }),
})

export const deletePicture = operation('DELETE /v1/pictures/:id', {
  id: 'deletePicture',
  may: 'full',
  audit: 'picture.delete',
  of: picture,
  says: () => ({
    summary: 'Delete a picture',
    description: 'Mails that were sent with it do not show it any more.',
    answers: [
      answer(
        'It is gone',
        'PictureDeleted',
        { message: confirmation },
        { message: 'Picture deleted' },
      ),
    ],
    refusals: [
      refusal(
        'conflict',
        'A template, a campaign that has not ended, or one on the public page of past campaigns shows it',
        'The campaign "News of May" shows the picture "books.jpg": take it out there first',
      ),
    ],
  }),
})

export const pictures: Contract = {
  tag: { name: 'Pictures', description: 'Pictures for mails, which the appliance serves itself.' },
  operations: [listPictures, addPicture, getPicture, changePicture, deletePicture],
}
