'use strict';

const RATES = { AT: 0.2, DE: 0.19, FR: 0.2, IT: 0.22, ES: 0.21, PL: 0.23, SE: 0.25, HU: 0.27 };

function total(items) {
  return items.reduce((sum, item) => sum + item.price * item.count, 0);
}

function withTax(amount, country) {
  if (!(country in RATES)) throw new RangeError(`no rate for country ${country}`);
  return Math.round(amount * (1 + RATES[country]) * 100) / 100;
}

function discount(amount, percent) {
  if (percent < 0 || percent > 100) throw new RangeError(`percent out of range: ${percent}`);
  return Math.round(amount * (100 - percent)) / 100;
}

function shipping(weight) {
  if (weight <= 1) return 4.5;
  if (weight <= 5) return 7.9;
  if (weight <= 20) return 14;
  return 14 + Math.ceil((weight - 20) / 10) * 6;
}

function slug(name) {
  return name.normalize('NFKD').replace(/[\u0300-\u036f]/g, '').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
}

function parseOrder(line) {
  const [id, sku, count, price] = line.split(';');
  return { id: Number(id), sku: sku.trim(), count: Number(count), price: Number(price) };
}

module.exports = { RATES, total, withTax, discount, shipping, slug, parseOrder };
