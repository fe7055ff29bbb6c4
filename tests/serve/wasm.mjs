// Answers the requests of FOLDER/requests.json by the module in BUILT, one line per request. Each of them is a path and a
// body; of "sign", the answer is made by twinsift.js from a text and options.
import { readFileSync } from 'node:fs';

const [built, file] = process.argv.slice(2);
const { load } = await import(`${built}/twinsift.js`);
const twinsift = await load();

function sign([text, options]) {
  try {
    const { bands, rows, signature, bandKeys } = twinsift.sign(text, options);
    return { bands, rows, signature: [...signature], keys: [...bandKeys].map(String) };
  } catch (error) {
    return { error: error.message };
  }
}

console.log(twinsift.version);
for (const [path, body] of JSON.parse(readFileSync(file, 'utf8')))
  console.log(JSON.stringify(path === 'sign' ? sign(body) : twinsift.request(path, body)));
