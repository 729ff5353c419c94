'use strict';
const assert = require('node:assert');
// The same cases run under node --test, jest, mocha and tap, which all offer describe and it.
const runner = globalThis.describe ? globalThis : process.env.RUNNER ? require(process.env.RUNNER) : require('node:test');
const { describe, it } = runner;
const cart = require('../cart.js');

describe('total', () => {
  for (let count = 1; count <= 12; count++) {
    it(`adds ${count} items of 2.50`, () => {
      assert.strictEqual(cart.total([{ price: 2.5, count }]), 2.5 * count);
    });
  }
  it('is 0 for an empty cart', () => assert.strictEqual(cart.total([]), 0));
});

describe('withTax', () => {
  const expected = { AT: 120, DE: 119, FR: 120, IT: 122, ES: 121, PL: 123, SE: 125, HU: 127 };
  for (const [country, amount] of Object.entries(expected)) {
    it(`adds the rate of ${country}`, () => assert.strictEqual(cart.withTax(100, country), amount));
  }
  it('refuses an unknown country', () => assert.throws(() => cart.withTax(100, 'XX'), /no rate for country XX/));
});

describe('discount', () => {
  for (let percent = 0; percent <= 100; percent += 5) {
    it(`takes ${percent} % off 80`, () => assert.strictEqual(cart.discount(80, percent), 80 - (80 * percent) / 100));
  }
  it('refuses 101 %', () => assert.throws(() => cart.discount(80, 101), RangeError));
});

describe('shipping', () => {
  const prices = [[0.2, 4.5], [1, 4.5], [1.1, 7.9], [5, 7.9], [5.5, 14], [20, 14], [21, 20], [30, 20], [31, 26], [45, 32]];
  for (const [weight, price] of prices) {
    it(`costs ${price} for ${weight} kg`, () => assert.strictEqual(cart.shipping(weight), price));
  }
});

describe('slug', () => {
  const names = { 'Café au lait': 'cafe-au-lait', 'Crème brûlée 2': 'creme-brulee-2', '  Olive oil ': 'olive-oil', 'A/B test': 'a-b-test' };
  for (const [name, slug] of Object.entries(names)) {
    it(`makes ${slug}`, () => assert.strictEqual(cart.slug(name), slug));
  }
});

describe('parseOrder', () => {
  for (let id = 1001; id <= 1130; id++) {
    it(`reads order ${id}`, () => {
      if (id % 7 === 0) console.log(`warning: order ${id} has a price of more than 100`);
      assert.deepStrictEqual(cart.parseOrder(`${id}; SKU-${id * 3} ;${id % 9};${id / 8}`), { id, sku: `SKU-${id * 3}`, count: id % 9, price: id / 8 });
    });
  }
});
