import { type Contract, operation } from '../contract/index.js'
import { openObject } from '../fields/index.js'

/** It is public: it tells what the API is, and nothing about any account. */
export const getOpenApi = operation('GET /v1/openapi.json', {
  id: 'getOpenApi',
  may: 'public',
  says: () => ({
    summary: 'This document',
    description: 'For anybody: no key is asked for and no request counted.',
    answers: [
      {
        status: 200,
        when: 'The document',
        shape: 'OpenApi',
        schema: {
          type: 'object',
          description: 'See https://spec.openapis.org/oas/v3.1.0.html',
          properties: {
            openapi: { type: 'string', pattern: '^3\\.1\\.\\d+$' },
            info: openObject('Title and version'),
            paths: openObject('The operations, by path and method'),
          },
          required: ['openapi', 'info', 'paths'],
        },
        value: { openapi: '3.1.0', info: { title: 'Posthorn', version: '0.1.0' }, paths: {} },
      },
    ],
  }),
})

/** The document itself. */
export const itself: Contract = {
  tag: { name: 'About this API', description: 'The contract in a form for machines.' },
  operations: [getOpenApi],
}
