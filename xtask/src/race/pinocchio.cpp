// Nanoseconds per call of Pinocchio's algorithms, by the protocol of `linkwork bench`: 64 random states in rotation, 2000 calls
// to warm up, 41 batches of about 4 ms, median and minimum of their means. Every algorithm is instantiated here, so that the
// compiler may use all that this processor has. Called with a model that robots.py wrote.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <pinocchio/fwd.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
namespace pin = pinocchio;

namespace {

const int kStates = 64;

double now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(since).count();
}

template <class Call>
double mean(int calls, Call call) {
  const double start = now();
  for (int i = 0; i < calls; ++i) call(i % kStates);
  return (now() - start) / calls;
}

template <class Call>
void measure(const char *algorithm, Call call) {
  mean(2000, call);
  const int calls = std::max(kStates, static_cast<int>(4e6 / mean(500, call)));
  std::vector<double> means;
  for (int batch = 0; batch < 41; ++batch) means.push_back(mean(calls, call));
  std::sort(means.begin(), means.end());
  std::printf("{\"alg\":\"%s\",\"ns\":%.1f,\"min\":%.1f}\n", algorithm, means[20], means[0]);
  std::fflush(stdout);
}

// A joint about or along an axis, of the cheapest type that Pinocchio has.
pin::JointModel joint(const std::string &kind, const Vector3d &axis) {
  const bool x = axis == Vector3d::UnitX(), y = axis == Vector3d::UnitY(), z = axis == Vector3d::UnitZ();
  if (kind == "free") return pin::JointModelFreeFlyer();
  if (kind == "turn" && x) return pin::JointModelRX();
  if (kind == "turn" && y) return pin::JointModelRY();
  if (kind == "turn" && z) return pin::JointModelRZ();
  if (kind == "turn") return pin::JointModelRevoluteUnaligned(axis);
  if (kind == "slide" && x) return pin::JointModelPX();
  if (kind == "slide" && y) return pin::JointModelPY();
  if (kind == "slide" && z) return pin::JointModelPZ();
  if (kind == "slide") return pin::JointModelPrismaticUnaligned(axis);
  std::fprintf(stderr, "no joint is called %s\n", kind.c_str());
  std::exit(2);
}

pin::Model read(const char *path) {
  std::ifstream in(path);
  pin::Model model;
  std::string kind;
  int parent;
  for (int i = 0; in >> kind >> parent; ++i) {
    Vector3d axis, place, com;
    Eigen::Matrix3d turn, moments;
    double mass;
    const auto numbers = [&](double *to, int count) { for (int k = 0; k < count; ++k) in >> to[k]; };
    numbers(axis.data(), 3);
    numbers(turn.data(), 9);  // column by column
    numbers(place.data(), 3);
    in >> mass;
    numbers(com.data(), 3);
    numbers(moments.data(), 9);
    const auto own = model.addJoint(parent, joint(kind, axis), pin::SE3(turn, place), "joint" + std::to_string(i));
    model.appendBodyToJoint(own, pin::Inertia(mass, com, moments));
  }
  return model;
}

}  // namespace

int main(int, char **arguments) {
  pin::Model model = read(arguments[1]);
  pin::Data data(model);
  const int n = model.nv;
  const VectorXd reach = VectorXd::Ones(model.nq);
  std::vector<VectorXd> q, v, a, t;
  for (int i = 0; i < kStates; ++i) {
    q.push_back(pin::randomConfiguration(model, -reach, reach));
    v.push_back(VectorXd::Random(n));
    a.push_back(VectorXd::Random(n));
    t.push_back(VectorXd::Random(n));
  }
  MatrixXd by_q = MatrixXd::Zero(n, n), by_v = by_q, by_input = by_q;
  const auto world = pin::Convention::WORLD, local = pin::Convention::LOCAL;
  measure("fk", [&](int i) { pin::forwardKinematics(model, data, q[i]); });
  measure("jacobians", [&](int i) { pin::computeJointJacobians(model, data, q[i]); });
  measure("rnea", [&](int i) { pin::rnea(model, data, q[i], v[i], a[i]); });
  measure("crba", [&](int i) { pin::crba(model, data, q[i], world); });
  measure("crba", [&](int i) { pin::crba(model, data, q[i], local); });
  measure("aba", [&](int i) { pin::aba(model, data, q[i], v[i], t[i], world); });
  measure("aba", [&](int i) { pin::aba(model, data, q[i], v[i], t[i], local); });
  measure("minv", [&](int i) { pin::computeMinverse(model, data, q[i]); });
  measure("rnea_derivatives", [&](int i) { pin::computeRNEADerivatives(model, data, q[i], v[i], a[i], by_q, by_v, by_input); });
  measure("aba_derivatives", [&](int i) { pin::computeABADerivatives(model, data, q[i], v[i], t[i], by_q, by_v, by_input); });
}
