import $ from "jquery";
import { name } from "./page.js";

$("#root").append($("<h1>"), $("<a class=behind>"), $("<table>"), $("<div id=notes>"));
$.getJSON(`/api/${name}`, (data) => {
  $("h1").text(data.title);
  $(".behind").text(data.hidden[0]);
  $("table").append($("<tr>").append(data.columns.map((column) => $("<th>").text(column))));
  for (const row of data.rows) $("table").append($("<tr>").append(row.map((cell) => $("<td>").text(cell))));
  $("#notes").text(data.hidden.join(" ")).hide();
});
